# SPDX-License-Identifier: Apache-2.0
"""offload-xdp: a chain whose fast path's entries live in an XDP program, against the same chain without.

Under linux-bridge, at one rate that both carry: cycles of the function's own core a packet, and CPU time of
the whole system a packet. Both sides pay for the tester and for the bridges; polls that found nothing are no
work.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pairs import Line, SkipError, interleave, line
from weir.fabric import FabricError
from weir.lab import Lab, load_lab
from weir.measure.trial import TrialRunner
from weir.procedures.driver import planned, refusal, running
from weir.protocol.errors import DataPlaneError
from weir.results.result import Trial

PAIRS = 5
FLOWS = 256
FRAME = "64"
_CARRIED_SHARE = 0.5
"""Of what comes back without offload when as much is sent as can be."""
_AS_FAST_AS_IT_CAN = 0.0
_WARM_UP_S, _SECONDS = 1.0, 2.0
_TECHNOLOGY = "linux-bridge"
_NAT = {"nf": "nat", "options": {"external": "203.0.113.0/27"}}
_FUNCTION = {
    "chain": [{"nf": "firewall", "options": {"default": "permit"}}, _NAT, {"nf": "l3fwd"}],
    "fastpath": True,
}
_LEAST_SHARE = 0.01
"""Of the peer's: less is taken for that, since an area that saw no packet at all has no ratio."""


@dataclass(frozen=True)
class Cost:
    """Of one trial, in cycles of the time-stamp counter a packet delivered."""

    core: float
    """Of the function's area, its system calls among them."""
    system: float
    """All CPUs."""
    areas: float
    """All areas of weir-dp, the tester's among them: what of it is no other program's."""
    offloaded: float
    """Share of the packets."""
    accounted: float
    """Share of the CPUs' time that was weir-dp's or nobody's; what others did is in `system`."""


def run() -> list[Line]:
    """Ratio of the function's core's cycles a packet, and of the whole system's CPU time."""
    sides = {True: _lab(_FUNCTION | {"offload": {"kind": "xdp", "packets": 8}}), False: _lab(_FUNCTION)}
    lacking = refusal(sides[True], _TECHNOLOGY, sides[True].chains()[0])
    if lacking is not None:
        raise SkipError(lacking.missing)
    try:
        load_pps = _CARRIED_SHARE * _carried_pps(sides[False])
        costs = interleave(lambda: _cost(sides[True], load_pps), lambda: _cost(sides[False], load_pps), PAIRS)
    except (DataPlaneError, FabricError) as error:
        raise SkipError(str(error)) from None
    core = line(
        "offload-xdp-core",
        [(max(_LEAST_SHARE * peer.core, ours.core), peer.core) for ours, peer in costs],
        target=10.0,
        unit="cycles_a_packet",
        less_is_better=True,
    )
    system = line(
        "offload-xdp-system",
        [(ours.system, peer.system) for ours, peer in costs],
        target=None,
        unit="cycles_a_packet",
        less_is_better=True,
    )
    for one in (core, system):
        shares = [ours.offloaded for ours, _ in costs]
        one.detail.update(
            ours_core_cycles_a_packet=statistics.median(ours.core for ours, _ in costs),
            peer_core_cycles_a_packet=statistics.median(peer.core for _, peer in costs),
            ours_areas_cycles_a_packet=statistics.median(ours.areas for ours, _ in costs),
            peer_areas_cycles_a_packet=statistics.median(peer.areas for _, peer in costs),
            accounted_share_min=min(one.accounted for pair in costs for one in pair),
        )
        one.detail.update(flows=FLOWS, frame=FRAME, load_pps=round(load_pps), offloaded_share_min=min(shares))
    return [core, system]


def _lab(function: dict[str, Any]) -> Lab:
    text = {
        "weir": 1,
        "name": "offload",
        "chain": "PVP",
        "technology": _TECHNOLOGY,
        "functions": {"default": function},
        "tester": {"direction": "left-to-right"},
        "traffic": {"frames": [FRAME], "flows": {"count": FLOWS, "vary": ["src_port"]}},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(text, file)
        file.flush()
        return load_lab(Path(file.name), cpus=sorted(os.sched_getaffinity(0)))


def _last_trial(lab: Lab, load_pps: float, seconds: float) -> tuple[Trial, float]:
    """Behind one in which all flows became known; and the counter's rate."""
    trials: list[Trial] = []
    with running(lab, planned(lab, _TECHNOLOGY, lab.chains()[0])) as chain:
        tester, traffic = chain.tester(), chain.traffic(FRAME)
        tester.announce(3)
        tester.configure_traffic(traffic.config)
        runner = TrialRunner(
            tester,
            chain.counters,
            traffic,
            options=lab.measure.trial,
            on_trial=trials.append,
            outside=chain.deployment.watch(sample_stacks=False),
        )
        runner.run("curve", load_pps, _WARM_UP_S)
        runner.run("curve", load_pps, seconds)
        hz = tester.ledger().tsc_hz
    last = trials[-1]
    if not last.delivered or last.unaccounted:
        raise SkipError(f"of {last.offered} packets {last.delivered} arrived, {last.unaccounted} unaccounted")
    return last, hz


def _carried_pps(lab: Lab) -> float:
    last, _ = _last_trial(lab, _AS_FAST_AS_IT_CAN, 0.5)
    return last.delivered / last.duration_s


def _cost(lab: Lab, load_pps: float) -> Cost:
    last, hz = _last_trial(lab, load_pps, _SECONDS)
    area = next(one for one in last.areas if one.name == "f1")
    busy_s = sum(one.user_s + one.system_s + one.softirq_s + one.irq_s for one in last.cores)
    idle_s = sum(one.idle_cycles for one in last.areas if one.kind != "softirq") / hz
    return Cost(
        core=area.busy_cycles / last.delivered,
        system=(busy_s - idle_s) * hz / last.delivered,
        areas=sum(one.busy_cycles for one in last.areas if one.kind != "softirq") / last.delivered,
        accounted=min(one.accounted for one in last.cores),
        offloaded=area.offloaded / max(1, area.packets),
    )
