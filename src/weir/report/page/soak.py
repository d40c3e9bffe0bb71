# SPDX-License-Identifier: Apache-2.0
"""The page's section on a soak: facts, plots over time, short runs against this one, events, drift."""

from __future__ import annotations

from weir.report import soak_rows, summary
from weir.report.page.markup import Markup, sheet, tag
from weir.report.soak_rows import SoakRow
from weir.results.result import Result

EVENTS_SHOWN = 200


def soak(result: Result) -> Markup | None:
    """One part a soak; None for a run without. The script draws the plots from the embedded data."""
    rows = soak_rows.soaks(result)
    return tag("div", [_one(row, index) for index, row in enumerate(rows)]) if rows else None


def _one(row: SoakRow, index: int) -> Markup:
    title = f"{row.setup.technology} {row.setup.chain}, frame {summary.frame_label(row.case.frame)}"
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in soak_rows.facts(row.soak)]
    remarks = [tag("li", sentence) for sentence in soak_rows.remarks(row.soak)]
    return tag(
        "div",
        tag("h3", title),
        tag("dl", facts, class_="facts"),
        tag("ul", remarks, class_="plain why") if remarks else None,
        tag("div", class_="rows soak-plots", data_soak=index),
        tag("ul", class_="keys soak-keys"),
        _prefixes(row),
        tag("p", soak_rows.MEANING, class_="dim"),
        _broken(row),
        _events(row),
        _drifts(row),
        class_="soak",
    )


def _prefixes(row: SoakRow) -> Markup:
    head = ("first", *(f"{name}, µs" for name in soak_rows.PREFIX_HEAD), "windows", "least", "median", "most")
    lines = []
    for prefix in row.soak.prefixes:
        cells = soak_rows.prefix_cells(prefix)
        lines.append([prefix.name, *cells[:-3], str(prefix.windows or ""), *cells[-3:]])
    return sheet("Short runs and this one, slower direction; windows: greatest delay, µs", head, lines, 1)


def _broken(row: SoakRow) -> Markup | None:
    items = [tag("li", soak_rows.broken_text(one)) for one in row.soak.broken]
    return (
        tag("div", tag("b", "Limits broken by intervals"), tag("ul", items, class_="plain"))
        if items
        else None
    )


def _events(row: SoakRow) -> Markup:
    events = soak_rows.notable(row.soak, EVENTS_SHOWN)
    if not events:
        return tag("p", "No packet went missing, and no loop stood still for 1 ms or more.")
    items = [tag("li", soak_rows.event_text(event)) for event in events]
    whole = sum(len(one.events) + one.events_left_out for one in row.soak.intervals)
    line = tag(
        "summary", tag("b", "Events"), tag("span", f" {len(events)} of {whole}, losses first", class_="dim")
    )
    return tag("details", line, tag("ul", items, class_="plain"), class_="fold")


def _drifts(row: SoakRow) -> Markup | None:
    if not row.soak.drifts:
        return None
    head = ("of", "what", "start", "change (95 %)", "share")
    minutes = max(drift.seconds for drift in row.soak.drifts) / 60
    lines = [soak_rows.drift_cells(drift) for drift in row.soak.drifts]
    return sheet(f"Drift over {minutes:.1f} min: a line through the intervals", head, lines, 2)
