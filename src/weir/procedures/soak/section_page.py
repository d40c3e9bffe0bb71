# SPDX-License-Identifier: Apache-2.0
"""A soak's part of the page: facts, plots over time, short runs against this one, events, drift."""

from __future__ import annotations

from collections.abc import Iterator

from weir.procedures.soak import section_rows
from weir.procedures.soak.section_rows import SoakRow
from weir.report import summary
from weir.report.page.markup import Markup, sheet, tag
from weir.report.sections import PagePart
from weir.results.result import Result

EVENTS_SHOWN = 200


def parts(result: Result) -> Iterator[PagePart]:
    """One for all soaks; none for a run without. The script draws the plots from the embedded data."""
    rows = section_rows.soaks(result)
    if rows:
        yield PagePart(
            "Soak",
            "Under constant load",
            "Each point is an interval: the difference of counters that are never reset. Lines break where "
            "there was no load.",
            tuple(_one(row, index) for index, row in enumerate(rows)),
        )


def _one(row: SoakRow, index: int) -> Markup:
    title = f"{row.setup.technology} {row.setup.chain}, frame {summary.frame_label(row.case.frame)}"
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in section_rows.facts(row.soak)]
    remarks = [tag("li", sentence) for sentence in section_rows.remarks(row.soak)]
    return tag(
        "div",
        tag("h3", title),
        tag("dl", facts, class_="facts"),
        tag("ul", remarks, class_="plain why") if remarks else None,
        tag("div", class_="rows soak-plots", data_soak=index),
        tag("ul", class_="keys soak-keys"),
        _prefixes(row),
        tag("p", section_rows.MEANING, class_="dim"),
        _broken(row),
        _events(row),
        _drifts(row),
        class_="soak",
    )


def _prefixes(row: SoakRow) -> Markup:
    head = (
        "first",
        *(f"{name}, µs" for name in section_rows.PREFIX_HEAD),
        "windows",
        "least",
        "median",
        "most",
    )
    lines = []
    for prefix in row.soak.prefixes:
        cells = section_rows.prefix_cells(prefix)
        lines.append([prefix.name, *cells[:-3], str(prefix.windows or ""), *cells[-3:]])
    return sheet("Short runs and this one, slower direction; windows: greatest delay, µs", head, lines, 1)


def _broken(row: SoakRow) -> Markup | None:
    items = [tag("li", section_rows.broken_text(one)) for one in row.soak.broken]
    return (
        tag("div", tag("b", "Limits broken by intervals"), tag("ul", items, class_="plain"))
        if items
        else None
    )


def _events(row: SoakRow) -> Markup:
    events = section_rows.notable(row.soak, EVENTS_SHOWN)
    if not events:
        return tag("p", "No packet went missing, and no loop stood still for 1 ms or more.")
    items = [tag("li", section_rows.event_text(event)) for event in events]
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
    lines = [section_rows.drift_cells(drift) for drift in row.soak.drifts]
    return sheet(f"Drift over {minutes:.1f} min: a line through the intervals", head, lines, 2)
