# SPDX-License-Identifier: Apache-2.0
"""Evidence of what ran outside weir-dp on a core: the switch's thread, and the kernel's receive path."""

from __future__ import annotations

from collections.abc import Iterator

from weir.explain.cores import KERNEL_KINDS, Core
from weir.explain.seen import Seen, share
from weir.results.explanation import Evidence
from weir.results.result import AreaLoad, CoreLoad

UPCALL_SHARE = 0.001
"""Fewer packets that no flow of the switch fits are its learning at the start."""
_INSIDE = 4


def outside_rows(one: Seen, core: Core) -> tuple[Evidence, ...]:
    """Rows of the areas outside weir-dp on that core; none where there are none."""
    areas = [area for area in one.trial.areas if area.core == core.number]
    rows = [row for area in areas for row in _of_area(area)]
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
