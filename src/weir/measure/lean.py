# SPDX-License-Identifier: Apache-2.0
"""A lean result from what weir-lean answered: cycles and instructions of the chain and of each stage."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from weir.store.lean import FastPathUse, LeanCost, LeanSamples, Prediction, Spread

BATCH = 32
CHAIN = "chain"
FASTPATH = "fast path"
InstructionsSource = Literal["hardware counter", "callgrind"]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TimedStage(_Answer):
    """Cycles are of the batches that nothing interrupted; packets and drops of all."""

    name: str
    packets_in: int
    packets_out: int
    cycles: int
    middle: float
    """Cycles of a batch, mean of the middle half."""
    drops: dict[str, int]


class TimedFastPath(_Answer):
    """Packets that the fast path knew, and those that walked; cycles that are in no stage."""

    hits: int
    walks: int
    cycles: int
    middle: float | None = None
    """Cycles of a batch, as of stages; an older weir-lean does not tell them."""


class Timed(_Answer):
    """The answer to `time`."""

    batches: int
    packets: int
    forwarded: int
    interrupted: int
    cycled: int
    """Packets of the batches that nothing interrupted."""
    cycles: int
    middle: float
    stages: tuple[TimedStage, ...]
    fastpath: TimedFastPath | None = None


class Target(_Answer):
    """What was counted around one thing, over so many batches."""

    label: str
    batches: int
    packets: int
    instructions: int = 0
    cycles: int | None = None
    l1d_misses: int | None = None
    llc_misses: int | None = None


class Counted(_Answer):
    """The answer to `count`: targets "empty", "path", "stage 0", …"""

    targets: tuple[Target, ...]
    shared: bool = False
    """Other programs had the counters meanwhile: of no use."""


@dataclass(frozen=True)
class Counts:
    """What counters say, a packet of the chain. Without what counting itself costs."""

    instructions: float
    cycles: float | None
    l1d_misses: float | None
    llc_misses: float | None


def counts(counted: Counted) -> dict[str, Counts]:
    """By label: "path", "stage 0", …"""
    empty = next(target for target in counted.targets if target.label == "empty")
    return {target.label: _counts(target, empty) for target in counted.targets if target.label != "empty"}


def _counts(target: Target, empty: Target) -> Counts:
    def a_packet(event: str) -> float | None:
        value, nothing = getattr(target, event), getattr(empty, event)
        if value is None or nothing is None:
            return None
        return float(max(0.0, value - nothing * target.batches / empty.batches) / target.packets)

    return Counts(
        instructions=a_packet("instructions") or 0.0,
        cycles=a_packet("cycles"),
        l1d_misses=a_packet("l1d_misses"),
        llc_misses=a_packet("llc_misses"),
    )


def spread(values: Sequence[float]) -> Spread:
    """Median, minimum and maximum of the repeats."""
    return Spread(median=statistics.median(values), min=min(values), max=max(values))


def costs(timed: Sequence[Timed], counted: Sequence[Counted]) -> tuple[LeanCost, list[LeanCost]]:
    """The chain and its stages, from all repeats. `counted`: of hardware counters or callgrind, or empty.

    Cycles are those of hardware counters if they were counted, else of the time-stamp counter.
    """
    found = [counts(one) for one in counted]
    total = LeanCost(
        name=CHAIN,
        packets_in=sum(one.packets for one in timed),
        packets_out=sum(one.forwarded for one in timed),
        drops=_added(stage.drops for one in timed for stage in one.stages),
        cycles_per_packet=spread([one.cycles / one.cycled for one in timed if one.cycled]),
    )
    stages = [
        LeanCost(
            name=first.name,
            packets_in=sum(one.stages[index].packets_in for one in timed),
            packets_out=sum(one.stages[index].packets_out for one in timed),
            drops=_added(one.stages[index].drops for one in timed),
            cycles_per_packet=spread([one.stages[index].cycles / one.cycled for one in timed if one.cycled]),
        )
        for index, first in enumerate(timed[0].stages)
    ]
    return _with(total, found, "path"), [
        _with(stage, found, f"stage {index}") for index, stage in enumerate(stages)
    ]


def _with(cost: LeanCost, found: Sequence[dict[str, Counts]], label: str) -> LeanCost:
    """The cost with what counters say; as it is if they say nothing of it (stages behind a fast path)."""
    own = [one[label] for one in found if label in one]
    if not own:
        return cost
    cycles = [one.cycles for one in own if one.cycles is not None]
    cpp = spread(cycles) if cycles else cost.cycles_per_packet
    ipp = statistics.median(one.instructions for one in own)
    ipc = ipp / cpp.median if cpp.median else None
    return cost.model_copy(
        update={
            "cycles_per_packet": cpp,
            "instructions_per_packet": ipp,
            "ipc": ipc,
            "eipc": ipc,
            "l1d_misses_per_packet": _median(own, lambda one: one.l1d_misses),
            "llc_misses_per_packet": _median(own, lambda one: one.llc_misses),
        }
    )


def _median(own: Sequence[Counts], value: Callable[[Counts], float | None]) -> float | None:
    known = [found for found in map(value, own) if found is not None]
    return statistics.median(known) if known else None


def _added(drops: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in drops:
        for reason, packets in one.items():
            total[reason] = total.get(reason, 0) + packets
    return total


def samples(launches: Sequence[Sequence[Timed]], clock_step_cycles: float) -> list[LeanSamples]:
    """Cycles per packet of each repeat: of the chain, of the fast path, and of each stage.

    Stages that some repeat did not meet, as behind a fast path, have none: there is nothing to compare.
    """
    found = []
    for name in _middles(launches[0][0]):
        all_ = [[_middles(one)[name] / BATCH for one in launch] for launch in launches]
        if all(cycles > 0 for launch in all_ for cycles in launch):
            found.append(LeanSamples(name=name, launches=all_, step_cycles=clock_step_cycles / BATCH))
    return found


def _middles(timed: Timed) -> dict[str, float]:
    """Cycles of a batch."""
    found = {CHAIN: timed.middle}
    if timed.fastpath is not None and timed.fastpath.middle is not None:
        found[FASTPATH] = timed.fastpath.middle
    return found | {stage.name: stage.middle for stage in timed.stages}


def fastpath_use(timed: Sequence[Timed]) -> FastPathUse | None:
    """Hits, walks and cycles of all repeats; None without a fast path."""
    used = [(one.fastpath, one.cycled) for one in timed if one.fastpath is not None]
    if not used:
        return None
    return FastPathUse(
        hits=sum(one.hits for one, _ in used),
        walks=sum(one.walks for one, _ in used),
        cycles_per_packet=spread([one.cycles / cycled for one, cycled in used if cycled]),
    )


def predicted(cost: LeanCost, frequency_hz: float, cur: float) -> Prediction:
    """Equation (6) of the paper: pps = frequency x CUR / CPP."""
    return Prediction(
        frequency_hz=frequency_hz, cur=cur, pps=frequency_hz * cur / cost.cycles_per_packet.median
    )
