# SPDX-License-Identifier: Apache-2.0
"""Rows of evidence: busy and slowed cores, losses, and what ran outside weir-dp (the switch's thread, the
kernel's receive path).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weir.explain.cores import Core, waited_share
from weir.explain.trial import Analysis, Overflow
from weir.lab.execution import KERNEL_KINDS
from weir.results.explanation import Evidence
from weir.results.result import AreaLoad, CoreLoad

UPCALL_SHARE = 0.001
"""Fewer packets that no flow of the switch fits are its learning at the start."""
WAITED_SHARE = 0.01
"""A polling thread waits for its core for less on any machine."""
_INSIDE = 4


def outside_rows(one: Analysis, core: Core) -> tuple[Evidence, ...]:
    """Rows of the areas outside weir-dp on that core; none where there are none."""
    areas = [area for area in one.trial.areas if area.core == core.number]
    rows = [row for area in areas for row in _of_area(area)]
    waited = waited_share(one.trial, core.number)
    if waited >= WAITED_SHARE:
        polling = next(area for area in areas if area.polling is not None)
        rows.append(share(f"{polling.name} waited", waited, "others had its core; in none of its cycles"))
    kernel = any(area.kind in KERNEL_KINDS for area in areas)
    for load in one.trial.cores:
        if load.core == core.number and (rows or kernel):
            rows += _of_core(load, kernel=kernel)
    rows += _inside(core)
    return tuple(rows)


def _of_area(area: AreaLoad) -> Iterator[Evidence]:
    packets = area.packets
    if area.kind != "pmd" or not packets or area.polling is None:
        return
    yield Evidence(
        what=f"{area.name} itself",
        value=area.busy_cycles / packets,
        unit="cycles/packet",
        note=f"of {packets:,} that it took, at every network of the chain",
    )
    if area.polling.batches:
        burst = packets / area.polling.batches
        yield Evidence(what=f"{area.name} sent", value=burst, unit="packets", note="a burst, in the mean")
    if area.polling.upcalls > UPCALL_SHARE * packets:
        yield Evidence(
            what=f"{area.name} upcalls",
            value=area.polling.upcalls,
            unit="packets",
            note=f"no flow in its tables fitted, {area.polling.upcalls_lost} of them lost",
        )


def offloaded(areas: Iterable[AreaLoad]) -> Iterator[Evidence]:
    """A row for each area that had packets forwarded below it."""
    for area in areas:
        split = [path.offload for path in area.paths if path.offload is not None]
        if split:
            put, revoked = sum(one.put for one in split), sum(one.revoked for one in split)
            refused = sum(sum(one.refused.values()) for one in split)
            note = (
                f"of its packets, by {split[0].kind}, where they are received: {put} flows went down, "
                f"{revoked} came up, {refused} stay in software"
            )
            yield share(f"{area.name} offloaded", area.offloaded / max(1, area.packets), note)


def _of_core(load: CoreLoad, *, kernel: bool) -> Iterator[Evidence]:
    where = f"core {load.core}"
    yield share(f"{where} accounted", load.accounted, "areas, polls without packets, and idle")
    if load.steal_s > 0:
        yield share(f"{where} stolen", load.steal_s / load.window_s, "the hypervisor had it, as it says")
    if not kernel:
        return
    if load.squeezed:
        note = "stopped with frames left: time or budget was over (time_squeeze)"
        yield Evidence(what=f"softirq of {where}", value=load.squeezed, unit="times", note=note)
    if load.dropped:
        note = "found the backlog full (softnet_stat)"
        yield Evidence(what=f"dropped on {where}", value=load.dropped, unit="packets", note=note)


def _inside(core: Core) -> Iterator[Evidence]:
    for part in core.parts:
        for name, cycles in part.inside[:_INSIDE]:
            note = f"{cycles / part.cycles:.0%} of {part.area}, by sampled stacks"
            yield Evidence(what=f"{part.area}: {name}", value=cycles, unit="cycles/packet", note=note)


SLOWED_SHOWN_TIMES = 1.1
"""A core that takes so many times as long for the same work was slowed."""


def slowed_rows(core: int, times: float | None) -> Iterator[Evidence]:
    """A row if that core was slowed."""
    if times is not None and times >= SLOWED_SHOWN_TIMES:
        yield Evidence(
            what=f"core {core} slowed",
            value=times - 1,
            unit="share",
            note="longer for the same work than at best: a neighbour on its physical core, or a lower clock",
        )


def busy(one: Analysis) -> tuple[Evidence, ...]:
    """A row a core. What programs take of it is not in it: one that polls takes all."""
    programs = {area.core for area in one.trial.areas if area.kind == "guest"}
    return tuple(
        share(
            f"core {core.number} busy",
            core.busy,
            ("full" if core.full else "not full")
            + (", programs left out" if core.number in programs else ""),
        )
        for core in one.cores
    )


def lost(one: Analysis, overflows: Sequence[Overflow]) -> tuple[Evidence, ...]:
    """A row for each of the first three."""
    return tuple(
        Evidence(
            what=f"lost at {each.place}",
            value=each.packets,
            unit="packets",
            note=f"{each.reason}, {each.packets / one.trial.offered:.1%} of the offered",
        )
        for each in overflows[:3]
    )


def share(what: str, value: float, note: str) -> Evidence:
    """A row whose value is a share."""
    return Evidence(what=what, value=value, unit="share", note=note)
