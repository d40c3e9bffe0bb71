# SPDX-License-Identifier: Apache-2.0
"""crossover: run-to-completion against pipeline for the chains of labs/lean, as Table IV of [Lean].

Cycles a packet of each function, of moving packets between areas (queues), and of the chain (CPP), from the
ledger of weir-dp at full load over in-memory wires. The pipeline's functions lie on the two cores in turn, so
that each hand-over is one between cores. A chain's rate on two cores: run-to-completion runs it on both,
2 f / CPP; a pipeline is as fast as its dearer core. Where both cost the same is a matter of the hand-over:
the table says how dear one may be, and how dear it was. `ratio`: cycles of run-to-completion to those of the
pipeline, chain A with most flows; above 1 the pipeline costs less.

Two cores mean: generator and receiver take turns with functions, and share their caches. So cycles are
compared, not the measured rates; `whole` is the measured rate against the one that the ledger's cycles of
the fullest core allow: near 1, these cycles are all that there is.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.pairs import Line, SkipError
from tests.private_data_plane import private_data_plane
from weir import plan
from weir.base.error import WeirError
from weir.lab import Lab, load_lab
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure
from weir.protocol.ledger import AreaLedger, Ledger

LAB = Path(__file__).resolve().parent.parent / "labs" / "lean"
CHAINS = {"A": ("a-rtc", "a-pipeline"), "B": ("b-rtc", "b-pipeline")}
FLOWS = (1_000, 10_000)
REPEATS = 3
SETTLED = 32  # packets of each flow: what inspects a flow's first packets has come to its verdict
SETTLE_S, MEASURE_S = 40, 0.3
MEMORY_MB = 1024


@dataclass(frozen=True)
class Cost:
    """Cycles a packet, and what they say of the rate."""

    functions: dict[str, float]
    queues: float
    dearer_core: float
    """Cycles a packet of the functions on the core that has more of them."""
    whole: float
    """Measured rate to the one that the fullest core's cycles allow, tester included."""

    @property
    def cpp(self) -> float:
        """Of the chain."""
        return sum(self.functions.values()) + self.queues


def run() -> Line:
    """The table, and the ratio of chain A with most flows."""
    cpus = sorted(os.sched_getaffinity(0))[-2:]
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    lab = load_lab(LAB, cpus=cpus)
    ratios: dict[str, list[float]] = {}
    for name, pair in CHAINS.items():
        for flows in FLOWS:
            try:
                taken = [[_measured(lab, one, flows, cpus) for one in pair] for _ in range(REPEATS)]
            except WeirError as error:
                raise SkipError(str(error)) from None
            rtc, pipeline = (_middle([both[at] for both in taken]) for at in (0, 1))
            ratios[f"{name} {flows}"] = sorted(one.cpp / other.cpp for one, other in taken)
            _show(name, flows, rtc, pipeline)
    found = ratios[f"A {FLOWS[-1]}"]
    return Line(
        name="crossover",
        ratio=statistics.median(found),
        min=found[0],
        max=found[-1],
        n=REPEATS,
        target=None,
        detail={"cpp_ratios": {name: statistics.median(one) for name, one in ratios.items()}},
    )


def _show(name: str, flows: int, rtc: Cost, pipeline: Cost) -> None:
    heads = [*rtc.functions, "queues", "CPP", "whole"]
    print(f"  chain {name}, {flows:,} flows" + "".join(f"{head:>10}" for head in heads))
    for what, cost in (("run-to-completion", rtc), ("pipeline", pipeline)):
        values = [*cost.functions.values(), cost.queues, cost.cpp]
        print(f"    {what:<24}" + "".join(f"{value:10.1f}" for value in values) + f"{cost.whole:10.2f}")
    hops = len(rtc.functions) - 1
    saved = sum(rtc.functions.values()) - sum(pipeline.functions.values())
    measured = f"a hand-over took {(pipeline.queues - rtc.queues) / hops:.1f}"
    if saved > 0:
        said = f"fewer in the pipeline: cheaper below {saved / hops:.1f} cycles a hand-over; {measured}"
    else:
        said = f"more in the pipeline: dearer however cheap a hand-over is; {measured}"
    both = 2 * pipeline.dearer_core / rtc.cpp
    print(f"    functions take {abs(saved):.1f} cycles {said}")
    print(f"    on two cores run-to-completion is {both:.2f} times as fast", flush=True)


def _measured(lab: Lab, function: str, flows: int, cpus: Sequence[int]) -> Cost:
    chain = next(one for one in lab.chains() if one.name == function)
    sent = lab.traffic.flows.model_copy(update={"count": flows})
    lab = lab.model_copy(update={"traffic": lab.traffic.model_copy(update={"flows": sent})})
    topology = plan.build_topology(lab, lab.technology[0], chain, "crossover-00000000")
    config = _placed(plan.configure(topology, lab), cpus)
    with (
        private_data_plane(*cpus, memory_mb=MEMORY_MB, huge=True) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        client.configure(config)
        client.configure_traffic(plan.streams(topology, lab, "64"))
        client.start()
        client.start_traffic({0: 0}, int(2 * SETTLE_S * 1e9), 0)
        _settle(client, SETTLED * flows)
        before = client.ledger()
        client.wait(MEASURE_S)
        after = client.ledger()
    return _cost(before, after)


def _settle(client: DataPlaneClient, packets: int) -> None:
    """Until so many packets have left the last function."""
    deadline = time.monotonic() + SETTLE_S
    while _functions(client.ledger())[-1].paths[0].tx_packets < packets:
        if time.monotonic() > deadline:
            raise SkipError(f"{packets} packets do not pass within {SETTLE_S} s: the cores are not free")
        client.wait(0.1)


def _functions(ledger: Ledger) -> list[AreaLedger]:
    return [area for area in ledger.areas if area.kind == "chain"]


def _placed(config: Configure, cpus: Sequence[int]) -> Configure:
    """The generator on the first core; functions in turn, from the second on; the receiver with the last."""
    functions = [area.name for area in config.areas if area.kind == "chain"]
    cores = {name: cpus[(index + 1) % 2] for index, name in enumerate(functions)}
    ends = {"generator": cpus[0], "receiver": cpus[len(functions) % 2]}
    areas = tuple(
        area.model_copy(update={"core": cores.get(area.name, ends.get(area.kind, area.core))})
        for area in config.areas
    )
    return config.model_copy(update={"areas": areas, "stall_threshold_us": {}})


def _cost(before: Ledger, after: Ledger) -> Cost:
    functions: dict[str, float] = {}
    queues = 0.0
    cores: dict[int, float] = {}
    busy: dict[int, int] = {}
    for old, new in zip(before.areas, after.areas, strict=True):
        cycles = new.busy_cycles - old.busy_cycles
        busy[new.core] = busy.get(new.core, 0) + cycles
        if new.kind != "chain":
            continue
        received = new.paths[0].rx_packets - old.paths[0].rx_packets
        if received == 0:
            raise SkipError(f"{new.name} had no packet for {MEASURE_S} s: the cores are not free")
        stages = _stages(old, new)
        functions |= {nf: spent / received for nf, spent in stages.items()}
        queues += (cycles - sum(stages.values())) / received
        cores[new.core] = cores.get(new.core, 0.0) + cycles / received
    return Cost(functions, queues, max(cores.values()), max(busy.values()) / (after.tsc - before.tsc))


def _stages(old: AreaLedger, new: AreaLedger) -> dict[str, int]:
    return {
        stage.nf: stage.cycles - earlier.cycles
        for earlier, stage in zip(old.paths[0].stages, new.paths[0].stages, strict=True)
    }


def _middle(costs: Sequence[Cost]) -> Cost:
    """The one with the median CPP: its parts belong together."""
    return sorted(costs, key=lambda cost: cost.cpp)[len(costs) // 2]
