# SPDX-License-Identifier: Apache-2.0
"""offload-xdp: a chain whose fast path's entries live in an XDP program, against the same chain without.

Under linux-bridge, at one rate that both carry: cycles of the function's own core a packet, and CPU time of
the whole system a packet. Both sides pay for the tester and for the bridges; polls that found nothing are no
work.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from bench.bridged import AS_FAST_AS_IT_CAN, FRAME, bridged, seen
from bench.pairs import Line, SkipError, interleave, line
from weir.fabric import FabricError
from weir.lab import Lab
from weir.lab.execution import KERNEL_KINDS
from weir.protocol.errors import DataPlaneError

PAIRS = 5
FLOWS = 256
_CARRIED_SHARE = 0.5
"""Of what comes back without offload when as much is sent as can be."""
_WARM_UP_S, _SECONDS = 1.0, 2.0
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
    try:
        ours = bridged(_FUNCTION | {"offload": {"kind": "xdp", "packets": 8}}, flows=FLOWS)
        peer = bridged(_FUNCTION, flows=FLOWS)
        load_pps = _CARRIED_SHARE * _carried_pps(peer)
        costs = interleave(lambda: _cost(ours, load_pps), lambda: _cost(peer, load_pps), PAIRS)
    except (DataPlaneError, FabricError) as error:
        raise SkipError(str(error)) from None
    core = line(
        "offload-xdp-core",
        [(max(_LEAST_SHARE * without.core, with_.core), without.core) for with_, without in costs],
        target=10.0,
        unit="cycles_a_packet",
        less_is_better=True,
    )
    system = line(
        "offload-xdp-system",
        [(with_.system, without.system) for with_, without in costs],
        target=None,
        unit="cycles_a_packet",
        less_is_better=True,
    )
    core.detail["ours_median_cycles_a_packet"] = statistics.median(with_.core for with_, _ in costs)
    for one in (core, system):
        shares = [with_.offloaded for with_, _ in costs]
        one.detail.update(
            ours_areas_cycles_a_packet=statistics.median(with_.areas for with_, _ in costs),
            peer_areas_cycles_a_packet=statistics.median(without.areas for _, without in costs),
            accounted_share_min=min(one.accounted for pair in costs for one in pair),
        )
        one.detail.update(flows=FLOWS, frame=FRAME, load_pps=round(load_pps), offloaded_share_min=min(shares))
    return [core, system]


def _carried_pps(lab: Lab) -> float:
    return seen(lab, AS_FAST_AS_IT_CAN, warm_up_s=_WARM_UP_S, seconds=0.5).delivered_pps


def _cost(lab: Lab, load_pps: float) -> Cost:
    found = seen(lab, load_pps, warm_up_s=_WARM_UP_S, seconds=_SECONDS, watched=True)
    last, hz = found.trial, found.tsc_hz
    if last.unaccounted:
        raise RuntimeError(f"{last.unaccounted} of {last.offered} packets are unaccounted for")
    area = next(one for one in last.areas if one.name == "f1")
    busy_s = sum(one.user_s + one.system_s + one.softirq_s + one.irq_s for one in last.cores)
    loops = [one for one in last.areas if one.kind not in KERNEL_KINDS]
    idle_s = sum(one.idle_cycles for one in loops) / hz
    return Cost(
        core=area.busy_cycles / last.delivered,
        system=(busy_s - idle_s) * hz / last.delivered,
        areas=sum(one.busy_cycles for one in loops) / last.delivered,
        accounted=min(one.accounted for one in last.cores),
        offloaded=area.offloaded / max(1, area.packets),
    )
