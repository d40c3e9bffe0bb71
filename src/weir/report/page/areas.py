# SPDX-License-Identifier: Apache-2.0
"""Where the time went in a case: its areas in and outside weir-dp, and the cores as the kernel counts."""

from __future__ import annotations

from collections.abc import Iterator

from weir.report import numbers
from weir.report.page.markup import Markup, sheet
from weir.results.result import AreaLoad, Case, CoreLoad, Trial

_AREAS = ("area", "kind", "core", "busy", "cycles a packet", "packets", "dropped")
_CORES = (
    "core",
    "user",
    "system",
    "softirq",
    "stolen",
    "idle",
    "frames",
    "backlog full",
    "squeezed",
    "accounted",
)


def areas(case: Case, tsc_hz: int) -> list[Markup]:
    """Of the trial at the highest load that has a ledger; none without one."""
    ledgered = [trial for trial in (*case.curve, *case.trials) if trial.areas and trial.duration_s]
    if not ledgered or not tsc_hz:
        return []
    trial = max(ledgered, key=lambda one: one.intended_load_pps)
    load = numbers.mpps(trial.offered / trial.duration_s)
    title = f"Where the time went, {load} Mpps offered"
    lines = [list(_area(area, trial, tsc_hz)) for area in trial.areas]
    found = [sheet(title, _AREAS, lines, 2)]
    if trial.cores:
        found.append(sheet("The cores meanwhile", _CORES, [_core(core) for core in trial.cores], 0))
    return found


def _area(area: AreaLoad, trial: Trial, tsc_hz: int) -> Iterator[str]:
    yield area.name
    yield area.kind
    yield str(area.core)
    yield f"{min(1.0, area.own_cycles / (trial.duration_s * tsc_hz)):.0%}"
    yield f"{area.own_cycles / area.packets:.0f}" if area.packets else numbers.NONE
    yield _count(area.packets) if area.packets else numbers.NONE
    yield _count(area.dropped)


def _core(core: CoreLoad) -> list[str]:
    seconds = (core.user_s, core.system_s, core.softirq_s, core.steal_s, core.idle_s)
    return [
        str(core.core),
        *(f"{one / core.window_s:.0%}" for one in seconds),
        *(_count(one) for one in (core.frames, core.dropped, core.squeezed)),
        f"{core.accounted:.0%}",
    ]


def _count(packets: int) -> str:
    return f"{packets:,}".replace(",", " ")
