# SPDX-License-Identifier: Apache-2.0
"""What a trial says of the cost model's parameters: before it is run, which terms it would measure; after, a
row for each measured cost.

Of a switch the ledger has rows of two kinds. weir-dp's has the kernel's time inside of the area that made the
system call, exactly; how much of it was the softirq's is known from the kernel's own ticks, roughly. So the
sum is one measurement, and the softirq alone another one, which counts less.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from weir.lab.execution import (
    FULL_BURST,
    SWITCH_KINDS,
    SWITCH_THREAD_KINDS,
    TESTER_KINDS,
    Area,
    AreaPath,
    Execution,
)
from weir.measure.costs import AreaCost, Costs
from weir.measure.windows import limiting
from weir.planning.model.fit import Row
from weir.planning.model.terms import MemoryCurve, path_terms, rest_terms, state_bytes, weighted

PARTLY_FULL_NOISE = 3.0
"""Costs on cores that are not full are not quite what they are at the limit."""
LIGHT_NOISE = 5.0
"""Costs of short bursts: what they cost however few packets they have is not quite a constant."""
FRAMES_A_HOP: Mapping[str, int] = {"bridge": 2, "netfilter bridge": 2, "openvswitch": 2}
"""Frames that the softirq takes up for one packet: from the sender's interface, and into the receiver's."""
TICKS_NOISE = 3.0
"""Of a time that the kernel counts by its clock ticks, to that of one from the time-stamp counter."""


def row_terms(one: Execution, memory: MemoryCurve) -> list[dict[str, float]]:
    """Of each row that a trial would give."""
    full = _full_row_terms(one, memory)
    if one.switched():
        return full
    lone = _full_row_terms(one.with_fills({area.name: 1 / FULL_BURST for area in one.areas}), memory)
    return full + [{name: amount / LIGHT_NOISE for name, amount in terms.items()} for terms in lone]


def _full_row_terms(one: Execution, memory: MemoryCurve) -> list[dict[str, float]]:
    found = []
    for area in own_areas(one):
        excess = memory.excess_cycles(state_bytes(one, area.core))
        for path in area.paths:
            if path.share:
                stages, rest = path_terms(area, path, one, excess)
                found += [*stages, with_kernel(path, rest, one)]
    return [*found, *(hop(area, one, memory) for area in switch_areas(one))]


def rows(
    one: Execution,
    found: Costs,
    trial: int,
    memory: MemoryCurve,
    noise: float = 1.0,
    *,
    light: bool = False,
) -> list[Row]:
    """Of one trial. `noise`: how much less than usual it is to be believed.

    `light`: the load was one at which no core is full and bursts are short.
    """
    if light:
        full, noise = frozenset(one.cores()), noise * LIGHT_NOISE
    else:
        full = limiting(idle_shares(one, found), testers(one))
    result = []
    for area, cost in zip(own_areas(one), found.areas, strict=True):
        limits = area.core in full
        if not area.share() or not cost.packets or (area.kind == "generator" and not limits):
            continue
        own = noise if limits else noise * PARTLY_FULL_NOISE
        result += _area_rows(one, area, cost, memory, trial=trial, noise=own)
    return [*result, *_switch_rows(one, found, full, memory, trial=trial, noise=noise)]


def testers(one: Execution) -> frozenset[int]:
    """The tester's cores."""
    return frozenset(area.core for area in one.areas if area.kind in TESTER_KINDS)


def idle_shares(one: Execution, found: Costs) -> dict[int, float]:
    """Share of each core's time in which its areas found nothing."""
    idle = dict.fromkeys(one.cores(), 0.0)
    for area, cost in zip(own_areas(one), found.areas, strict=True):
        idle[area.core] += cost.idle_share
    switch = {cost.name: cost.idle_share for cost in found.beside}
    polling = [area for area in one.areas if area.kind in SWITCH_THREAD_KINDS]
    return idle | {area.core: switch[area.name] for area in polling if area.name in switch}


def _area_rows(
    one: Execution, area: Area, cost: AreaCost, memory: MemoryCurve, *, trial: int, noise: float
) -> list[Row]:
    excess = memory.excess_cycles(state_bytes(one, area.core))
    if area.kind in TESTER_KINDS:
        terms = with_kernel(area.paths[0], rest_terms(area, area.paths[0], one, excess), one)
        return [Row(trial, terms, cost.rest_cycles / area.share(), noise)]
    found, rest = [], []
    for path, measured in zip(area.paths, cost.paths, strict=True):
        if measured.packets:
            stages, others = path_terms(area, path, one, excess)
            rest.append((measured.packets / cost.packets, with_kernel(path, others, one)))
            found += [
                Row(trial, terms, stage.cycles, noise)
                for terms, stage in zip(stages, measured.stages, strict=True)
                if terms  # none where no packet goes through the function
            ]
    return [*found, Row(trial, weighted(rest), cost.rest_cycles, noise)]


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


def _switch_rows(
    one: Execution, found: Costs, full: Collection[int], memory: MemoryCurve, *, trial: int, noise: float
) -> list[Row]:
    """One for each of a switch's areas. `full`: the cores that limit.

    Where the tester does not limit it sends more than is taken, and its core's softirq drops that, which is
    no hop.
    """
    costs: dict[str, AreaCost] = {cost.name: cost for cost in found.beside}
    result = []
    for area in switch_areas(one):
        cost = costs.get(area.name)
        if cost is None or not cost.packets:
            continue
        if area.kind == "softirq" and area.core in testers(one) - set(full):
            continue
        own = noise if area.core in full else noise * PARTLY_FULL_NOISE
        own *= TICKS_NOISE if area.kind == "softirq" else 1.0
        frames = FRAMES_A_HOP.get(area.paths[0].hop, 1)
        result.append(Row(trial, hop(area, one, memory), cost.rest_cycles * frames, own))
    return result
