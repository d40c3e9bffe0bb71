# SPDX-License-Identifier: Apache-2.0
"""The standard report of an RFC 2544 run: as text a table a test, then everything that does not conform; on
the page the figures and tables that the RFCs ask for, and the same.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from markupsafe import Markup

from weir.lab.frames import IMIX_PREFIX
from weir.procedures.rfc2544 import section_rows
from weir.report import Format, doubts, summary
from weir.report.page.chart_axes import Axis
from weir.report.page.line_chart import Line, line_chart
from weir.report.page.markup import sentence, sentences, sheet, tag
from weir.report.sections import PagePart, PlainTable, Section
from weir.results.result import Result
from weir.results.rounds import INTERRUPTED, UNFINISHED

COLUMNS = 100
NOTHING = "it has no RFC 2544 procedures; `weir rfc2544 LAB` runs them"
ACROSS_SHARE = Axis(
    "offered, % of the maximum rate",
    ticks=tuple((value, str(value)) for value in range(0, 101, 20)),
    most=100,
)


def render(result: Result) -> str:
    """The report; for another run a sentence that says so."""
    parts = ["\n".join(_table(table)) for table in section_rows.tables(result)]
    if not parts:
        return f"{result.id}: {_no_procedures(result) or NOTHING}\n"
    head = f"{summary.title(result)}: RFC 2544, RFC 6201 and RFC 9004\n{result.fingerprint.cpu} · {result.id}"
    return "\n\n".join([head, *parts, *_endings(result)]) + "\n"


def _endings(result: Result) -> Iterator[str]:
    said = section_rows.remarks(result)
    if said:
        yield "\n".join(["Read with care", *(_item(sentence) for sentence in said)])
    found = section_rows.deviations(result)
    lines = [f"Not as the RFCs ask ({len(found)})" if found else "As the RFCs ask."]
    for one, where in found:
        only = f" ({', '.join(where)})" if where else ""
        lines.append(_item(f"{one.clause}: {one.asked}. Here: {one.ran}{only}."))
    yield "\n".join(lines)


def _item(text: str) -> str:
    return textwrap.fill(text, COLUMNS, initial_indent="  - ", subsequent_indent="    ")


def _table(table: PlainTable) -> Iterator[str]:
    rows = [list(table.head), *table.lines]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head))]
    yield table.title
    yield textwrap.fill(table.note, COLUMNS)
    yield ""
    last = ""
    for number, row in enumerate(rows):
        key = row[0] + row[1]
        shown = row if key != last else ["", "", *row[2:]]
        cells = [
            cell.ljust(width) if column < table.words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(shown, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
        if number == 0:
            yield "-" * (sum(widths) + 2 * len(widths) - 2)
        last = key


def parts(result: Result) -> Iterator[PagePart]:
    """Figures, tables, deviations; none for a run that was no RFC 2544 run."""
    every = section_rows.reported(result)
    if not every:
        return
    systems = list(dict.fromkeys(one.name for one in every))
    figures = [
        figure
        for name in systems
        for figure in _figures(name, [one for one in every if one.name == name])
        if figure is not None
    ]
    sheets = [
        [sheet(one.title, one.head, one.lines, one.words), tag("p", sentence(one.note), class_="dim")]
        for one in section_rows.tables(result)
    ]
    yield PagePart(
        "Procedures",
        "RFC 2544, RFC 6201 and RFC 9004",
        "Each test as its RFC describes it, and in the end everything in which this run differs.",
        (tag("div", figures, class_="charts"), sheets, _deviations(result)),
    )


def _figures(name: str, every: list[section_rows.Reported]) -> list[Markup | None]:
    return [_rates(name, every), _losses(name, every)]


def _rates(name: str, every: list[section_rows.Reported]) -> Markup | None:
    """RFC 2544, 26.1: the theoretical maximum, and what was found, by frame size."""
    fixed = [one for one in every if not one.case.frame.startswith(IMIX_PREFIX)]
    goals = list(dict.fromkeys(found.goal for one in fixed for found in one.case.throughput))
    found_at = {
        goal: tuple(
            (one.case.mean_frame_bytes, found.load_pps / 1e6)
            for one in fixed
            for found in one.case.throughput
            if found.goal == goal and found.load_pps is not None
        )
        for goal in goals
    }
    if not any(found_at.values()):
        return None
    maximum = tuple((one.case.mean_frame_bytes, one.report.max_pps / 1e6) for one in fixed)
    lines = [Line(f"{fixed[0].report.max_is}'s maximum", maximum, None)]
    lines += [Line(goal, points, index) for index, (goal, points) in enumerate(found_at.items())]
    sizes = Axis("frame size, bytes", ticks=_apart(sorted({at for at, _ in maximum})))
    return line_chart(f"{name}: throughput by frame size", lines, sizes, Axis("Mpps"))


def _apart(sizes: list[float]) -> tuple[tuple[float, str], ...]:
    """Names of sizes, without those that would be written over the one before."""
    kept: list[float] = []
    for size in sizes:
        if not kept or size - kept[-1] >= 0.06 * sizes[-1]:
            kept.append(size)
    return tuple((size, f"{size:.0f}") for size in kept)


def _losses(name: str, every: list[section_rows.Reported]) -> Markup | None:
    """RFC 2544, 26.3: loss in per cent over the offered share of the maximum."""
    lines: list[Line] = []
    for one in every:
        steps = one.report.frame_loss.steps if one.report.frame_loss else ()
        points = [(100 * step.share, 100 * step.loss_ratio) for step in steps if step.loss_ratio is not None]
        if points:
            lines.append(Line(one.frame, tuple(sorted(points)), len(lines)))
    return line_chart(f"{name}: frame loss rate", lines, ACROSS_SHARE, Axis("frames lost, %"))


def _deviations(result: Result) -> Markup:
    lines = [
        [one.clause, one.asked, one.ran, ", ".join(where) or "all"]
        for one, where in section_rows.deviations(result)
    ]
    if not lines:
        return tag("p", "Everything was as the RFCs ask.")
    doubted = doubts.sentences(result)
    notes = sentences(one for one in section_rows.remarks(result) if one not in doubted)
    title = "Not as the RFCs ask"
    return tag("div", notes, sheet(title, ("clause", "asked", "here", "where"), lines, 4, wrap=True))


def _no_procedures(result: Result) -> str | None:
    if section_rows.reported(result):
        return None
    cases = [case for _, case in result.cases()]
    if result.interrupted and all(case.problem in (INTERRUPTED, UNFINISHED) for case in cases):
        return "it was interrupted before anything had finished"
    return NOTHING


FORMAT = Format("rfc2544", ".rfc2544", render, _no_procedures)
SECTION = Section(
    kind=lambda result: "RFC 2544" if section_rows.reported(result) else None,
    findings=section_rows.findings,
    tables=section_rows.tables,
    page=parts,
    leads=True,
)
