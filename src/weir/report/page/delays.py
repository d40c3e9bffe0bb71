# SPDX-License-Identifier: Apache-2.0
"""The page's tables of delays at given loads and of the service level."""

from __future__ import annotations

from weir.report import numbers, summary
from weir.report.delay_rows import HEAD, MEANING, delay_rows, verdict_cells, verdicts
from weir.report.page.markup import Markup, sheet, tag
from weir.report.reduction_rows import HEAD as REDUCED
from weir.report.reduction_rows import MEANING as REDUCED_MEANING
from weir.report.reduction_rows import UNSURE, host_of, out_of_reach, reduction_rows
from weir.results.result import HostSetting, Result


def delays(result: Result) -> Markup | None:
    """One row a technology, chain, frame and load; None where the lab asked for none."""
    lines = [
        [
            row.setup.name,
            row.setup.chain,
            summary.frame_label(row.case.frame),
            row.load + ("" if row.valid else " (invalid)"),
            *row.cells(),
        ]
        for row in delay_rows(result)
    ]
    if not lines:
        return None
    head = ("technology", "chain", "frame", "load", *(f"{name}, µs" for name in HEAD))
    return tag("div", sheet("Delay at given loads", head, lines, 4), tag("p", MEANING, class_="dim"))


def service_level(result: Result) -> Markup | None:
    """One row a limit, those not met first; None where the lab promises nothing."""
    lines = [
        [setup.name, setup.chain, summary.frame_label(case.frame), *verdict_cells(verdict)]
        for setup, case, verdict in verdicts(result)
    ]
    if not lines:
        return None
    head = ("technology", "chain", "frame", "limit on", "load", "found", "limit", "used", "verdict")
    return sheet("Service level", head, lines, 5)


def reductions(result: Result) -> Markup | None:
    """One row a chain, frame, load and way: the change, its spread, before and after; None without any."""
    lines: list[list[str]] = [
        [row.chain, row.frame, ", ".join(part for part in (row.load, row.remark()) if part), row.way]
        + [_changed(*cell) for cell in zip(row.changes(), row.spreads(), row.values(), strict=True)]
        for row in reduction_rows(result)
    ]
    if not lines:
        return None
    head = ("chain", "frame", "load", "variant", *REDUCED.values())
    words = tag(
        "p", f"{REDUCED_MEANING} In small, its spread, and µs before and after. {UNSURE}", class_="dim"
    )
    return tag("div", sheet(f"Change of the delay to {result.baseline}", head, lines, 4), words)


def _changed(change: str, spread: str, values: str) -> Markup:
    small = [tag("small", text, class_="dim") for text in (spread, values) if text]
    return tag("div", tag("b", change), small, class_="changed")


def tuned(result: Result) -> Markup | None:
    """What of the lab's `host` held for each way, and what this machine cannot show of it."""
    hosts = host_of(result)
    keys = dict.fromkeys(one.key for settings in hosts.values() for one in settings)
    lines = []
    for key in keys:
        found = [next((one for one in settings if one.key == key), None) for settings in hosts.values()]
        lines.append([key, *map(_became, found)])
    said = out_of_reach(result)
    if not lines and not said:
        return None
    return tag(
        "div",
        sheet("What was tuned", ("key", *hosts), lines, 1 + len(hosts)) if lines else None,
        tag("h3", "What this machine cannot show") if said else None,
        tag("ul", [tag("li", sentence) for sentence in said], class_="plain") if said else None,
    )


def _became(one: HostSetting | None) -> str:
    if one is None or one.asked is None:
        return numbers.NONE
    if one.applied:
        return one.asked if one.key.endswith("cores") else "yes" if one.why is None else "in part"
    return f"{one.asked}: no" if one.why else "no"
