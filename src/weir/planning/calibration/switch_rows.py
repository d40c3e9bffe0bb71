# SPDX-License-Identifier: Apache-2.0
"""What a trial tells of a switch: costs of its areas, and of the kernel's in the system calls of others.

weir-dp's ledger has the kernel's time inside of the area that made the system call, exactly; how much of it
was the softirq's is known from the kernel's own ticks, roughly. So the sum is one measurement, and the
softirq alone another one, which counts less.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from weir.lab.execution import SWITCH_KINDS, TESTER_KINDS, Area, AreaPath, Execution
from weir.measure.costs import AreaCost, Costs
from weir.planning.model.fit import Row
from weir.planning.model.terms import MemoryCurve, rest_terms, state_bytes, weighted

FRAMES_A_HOP: Mapping[str, int] = {"bridge": 2, "netfilter bridge": 2, "openvswitch": 2}
"""Frames that the softirq takes up for one packet: from the sender's interface, and into the receiver's."""
TICKS_NOISE = 3.0
"""Of a time that the kernel counts by its clock ticks, to that of one from the time-stamp counter."""


def own_areas(one: Execution) -> list[Area]:
    """Those of weir-dp, in the ledger's order."""
    return [area for area in one.areas if area.kind not in SWITCH_KINDS]


def switch_areas(one: Execution) -> list[Area]:
    """The others, through which packets come."""
    return [area for area in one.areas if area.kind in SWITCH_KINDS and area.share()]


def with_kernel(path: AreaPath, rest: Mapping[str, float], one: Execution) -> dict[str, float]:
    """`rest`, with what the kernel does in the system calls by which packets leave the path."""
    parts: list[tuple[float, Mapping[str, float]]] = [(1.0, rest)]
    areas = {area.name: area for area in one.areas}
    for name, index in path.takers:
        if areas[name].kind == "softirq":
            taker = areas[name].paths[index]
            parts.append((1 / len(path.takers), rest_terms(areas[name], taker, one)))
    return weighted(parts)


def hop(area: Area, one: Execution, memory: MemoryCurve) -> dict[str, float]:
    """Of a switch's area, for each packet that comes to it."""
    share = area.share()
    excess = memory.excess_cycles(state_bytes(one, area.core)) if area.kind == "pmd" else 0.0
    return weighted(
        (path.share / share, rest_terms(area, path, one, excess)) for path in area.paths if path.share
    )


def switch_rows(
    one: Execution,
    found: Costs,
    full: Collection[int],
    memory: MemoryCurve,
    *,
    trial: int,
    noise: float,
    elsewhere: float,
) -> list[Row]:
    """One for each of its areas. `full`: the cores that limit. `noise` on these, and `elsewhere`: how much
    less than usual a cost is to be believed.

    Where the tester does not limit it sends more than is taken, and its core's softirq drops that, which is
    no hop.
    """
    testers = {area.core for area in one.areas if area.kind in TESTER_KINDS}
    costs: dict[str, AreaCost] = {cost.name: cost for cost in found.beside}
    result = []
    for area in switch_areas(one):
        cost = costs.get(area.name)
        if cost is None or not cost.packets:
            continue
        if area.kind == "softirq" and area.core in testers - set(full):
            continue
        own = (noise if area.core in full else elsewhere) * (TICKS_NOISE if area.kind == "softirq" else 1.0)
        frames = FRAMES_A_HOP.get(area.paths[0].hop, 1)
        result.append(Row(trial, hop(area, one, memory), cost.rest_cycles * frames, own))
    return result


def switch_idle(one: Execution, found: Costs) -> dict[int, float]:
    """Share of the time in which a switch with a core of its own found nothing, by that core."""
    idle = {cost.name: cost.idle_share for cost in found.beside}
    kinds = SWITCH_KINDS - {"softirq"}
    return {area.core: idle[area.name] for area in one.areas if area.kind in kinds and area.name in idle}
