# SPDX-License-Identifier: Apache-2.0
"""Delays in reports: those at given loads, the service level, and how variants change them. In the terminal
in 80 columns; the page has latency by load besides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.lab.frames import frame_label
from weir.procedures.latency import section_losses
from weir.procedures.latency.section_findings import findings
from weir.procedures.latency.section_rows import (
    HEAD,
    MEANING,
    REDUCED_HEAD,
    REDUCED_MEANING,
    UNSURE,
    DelayRow,
    applied,
    change_table,
    delay_rows,
    delay_table,
    host_lines,
    host_of,
    judged,
    level,
    not_judged,
    out_of_reach,
    reduction_rows,
    verdict_cells,
    verdict_table,
    verdicts,
)
from weir.report import blocks, summary
from weir.report.page.chart_axes import Axis
from weir.report.page.line_chart import Line, line_chart
from weir.report.page.markup import needs_script, sentence, sentences, sheet, tag
from weir.report.sections import HOW_TO_READ, TESTER_ALONE, Note, PagePart, PlainTable, Section
from weir.results.result import Latency, Outcome, Result

# What fits; the report has the rest.
SHOWN = ("mean", "P50", "P99", "P99.9", "max", "IPDV P99", "jitter")
WAY_COLUMNS, CHANGE_COLUMNS = 14, 10  # 80 in all, with a space between two
STYLES: dict[Outcome, str | None] = {"missed": "bold red", "not judged": "yellow", "met": None}
LEAST_LOADS = 3  # of which a line says something
PERCENTILES = (
    "At 99.9 % one packet in a thousand took longer. All valid trials of a load together, the direction with "
    "the higher P99; a line ends at the slowest packet. `weir report -f percentiles` has both directions as "
    "CSV."
)
QUANTILES = (("P50", "p50_us"), ("P99", "p99_us"), ("P99.9", "p999_us"))


def delay_tables(result: Result) -> Iterator[RenderableType]:
    """One table a chain and frame with delays, and one of all verdicts; nothing where there are none."""
    groups: dict[tuple[str, str], list[DelayRow]] = {}
    for row in delay_rows(result):
        groups.setdefault((row.setup.chain, row.case.frame), []).append(row)
    for (chain, frame), rows in groups.items():
        out = blocks.table(f"\n{chain}, frame {frame_label(frame)}: delay in µs")
        out.add_column(summary.way_title(result), overflow="fold", max_width=13)
        out.add_column("Load", overflow="fold", max_width=16)
        for name in SHOWN:
            out.add_column(name.replace(" ", "\n"), justify="right", no_wrap=True, min_width=5)
        for row in rows:
            cells = dict(zip(HEAD, row.cells(), strict=True))
            style = None if row.valid else "yellow"
            out.add_row(row.setup.name, row.load_text, *(cells[name] for name in SHOWN), style=style)
        yield out
    yield from _losses(result)
    yield from _judgement(result)


def _losses(result: Result) -> Iterator[RenderableType]:
    """One table a chain and frame."""
    rows = section_losses.shown(result)
    unit = section_losses.rate_unit(rows)
    for (chain, frame), some in itertools.groupby(
        sorted(rows, key=lambda row: row.of.what[:2]), key=lambda row: row.of.what[:2]
    ):
        out = blocks.table(f"\n{chain}, frame {frame_label(frame)}: what was lost")
        out.add_column(summary.way_title(result), overflow="fold", max_width=13)
        out.add_column("Load", overflow="fold", max_width=14)
        sent, *others, most = section_losses.HEAD
        for name in (f"{sent}\n{unit.label}", *others):
            out.add_column(name, justify="right", no_wrap=True)
        out.add_column(most, overflow="fold")
        for row in some:
            style = None if row.of.valid else "yellow"
            out.add_row(row.of.setup.name, section_losses.load_text(row), *row.cells(unit), style=style)
        yield out
    yield from blocks.listed("Invalid", section_losses.unusable(result), "yellow")


def _judgement(result: Result) -> Iterator[RenderableType]:
    every = list(verdicts(result))
    if not every:
        return
    out = blocks.table(f"\nService level: {level([verdict for *_, verdict in every])}")
    out.add_column(f"{summary.way_title(result)}, chain, frame", overflow="fold", max_width=22)
    for name in ("Limit on", "Load"):
        out.add_column(name, overflow="fold", max_width=14)
    for name in ("found", "limit", "used"):
        out.add_column(name, justify="right", no_wrap=True)
    out.add_column("")
    for setup, case, verdict in every:
        what = f"{setup.title} {frame_label(case.frame)}"
        out.add_row(what, *verdict_cells(verdict), style=STYLES[verdict.outcome])
    yield out
    yield from blocks.listed("Not judged", not_judged(every), "yellow")


def reduction_tables(result: Result) -> Iterator[RenderableType]:
    """One table a frame size and load, of each chain; nothing where nothing can be compared."""
    rows = list(reduction_rows(result))
    for chain, of_chain in itertools.groupby(rows, key=lambda row: row.chain):
        yield Text(f"\n{chain}: change of the delay to {result.baseline}", style="bold", overflow="fold")
        for (frame, load), some in itertools.groupby(of_chain, key=lambda row: (row.frame, row.load)):
            out = _changes_table(f"\nframe {frame}, {load}", summary.way_title(result))
            for row in some:
                way = "\n".join(part for part in (row.way, row.remark()) if part)
                spreads = map(_short, row.spreads())
                cells = ["\n".join(both) for both in zip(row.changes(), spreads, strict=True)]
                out.add_row(Text(way, overflow="fold"), *cells)
            yield out


def _short(spread: str) -> str:
    """ "-70 to -55": the sign of percent is said above it."""
    return spread.replace("%", "").replace(" to ", "…")


def _changes_table(title: str, ways: str) -> Table:
    out = blocks.table(title, between=0, style="none")
    out.add_column(ways, width=WAY_COLUMNS)
    for name in REDUCED_HEAD.values():
        out.add_column(name.replace(" ", "\n"), justify="right", overflow="fold", width=CHANGE_COLUMNS)
    return out


def tables(result: Result) -> Iterator[RenderableType]:
    """Nothing for a run without delays."""
    yield from delay_tables(result)
    yield from reduction_tables(result)


def kind(result: Result) -> str | None:
    """Of a run that measured delays, or was to."""
    delays = any(case.delays for _, case in result.cases())
    return "latency" if delays or summary.measure_of(result).get("latency") else None


def notes(result: Result) -> Iterator[Note]:
    """What the columns mean, what was tuned, and the least delay that the tester has."""
    meaning = [MEANING] if any(True for _ in delay_rows(result)) else []
    meaning += [section_losses.MEANING] if section_losses.shown(result) else []
    meaning += [REDUCED_MEANING, UNSURE] if result.reductions else []
    tuned = [f"{name}: {applied(settings)}" for name, settings in host_of(result).items()]
    yield Note("Tuned on this machine", tuned)
    yield Note("What this machine cannot show", out_of_reach(result), "yellow")
    yield Note(HOW_TO_READ, meaning)
    yield Note(TESTER_ALONE, [*summary.floors(result)] if meaning else [])


def parts(result: Result) -> Iterator[PagePart]:
    """What was measured of delays, judged or tuned; nothing of a run without."""
    shown = [
        part
        for part in (
            service_level(result),
            by_load(result),
            by_percentile(result),
            reductions(result),
            latency_over_load(result),
            losses(result),
            delays(result),
        )
        if part is not None
    ]
    if shown:
        yield PagePart("Latency", "Latency", "One way, the slower direction.", tuple(shown))
    held = tuned(result)
    if held is not None:
        yield PagePart(
            "Tuned",
            "What was tuned",
            "What of the lab's host section held while this was measured.",
            (held,),
        )


def by_load(result: Result) -> Markup | None:
    """Place for what the script draws of the trials at given loads; None without any that timed packets."""
    timed = any(
        trial.valid and trial.duration_s > 0 and any(stream.latency for stream in trial.streams)
        for _, case in result.cases()
        for trial in case.curve
    )
    if not timed:
        return None
    return tag(
        "div",
        tag("h3", "Latency by load"),
        tag("p", "Past the throughput it shows how long queues are.", class_="dim"),
        tag("div", class_="controls", id="latency-controls"),
        tag("div", class_="rows", id="latency-plots", data_unit=summary.curve_unit(result).label),
        needs_script("These plots"),
    )


def by_percentile(result: Result) -> Markup | None:
    """Likewise of histograms."""
    kept = any(
        trial.valid and any(stream.histogram for stream in trial.streams)
        for _, case in result.cases()
        for trial in (*case.trials, *case.curve, *(one for point in case.delays for one in point.trials))
    )
    if not kept:
        return None
    return tag(
        "div",
        tag("h3", "Latency by percentile"),
        tag("p", sentence(PERCENTILES), class_="dim"),
        tag("div", class_="plots wide", id="percentile-plots"),
        tag("p", id="percentile-left", class_="dim"),
        needs_script("These plots"),
    )


def delays(result: Result) -> Markup | None:
    """One row a technology, chain, frame and load; None where the lab asked for none."""
    table = delay_table(result)
    return None if table is None else _with_note(table)


def losses(result: Result) -> Markup | None:
    """Likewise of what was lost; None where there is nothing to be told."""
    table = section_losses.loss_table(result)
    return None if table is None else _with_note(table)


def service_level(result: Result) -> Markup | None:
    """One row a limit, worst first; None where the lab promises nothing."""
    table = verdict_table(result)
    return None if table is None else _with_note(table)


def plain_tables(result: Result) -> Iterator[PlainTable]:
    """The service level, losses and delays at given loads and how variants change them."""
    made = (
        verdict_table(result),
        section_losses.loss_table(result),
        delay_table(result),
        change_table(result),
    )
    yield from (one for one in made if one is not None)


def _with_note(table: PlainTable) -> Markup:
    note = tag("p", sentence(table.note), class_="dim") if table.note else None
    return tag("div", sheet(table.title, table.head, table.lines, table.words), note)


def reductions(result: Result) -> Markup | None:
    """One row a chain, frame, load and way: the change, its spread, before and after; None without any."""
    lines: list[list[str]] = [
        [row.chain, row.frame, ", ".join(part for part in (row.load, row.remark()) if part), row.way]
        + [_changed(*cell) for cell in zip(row.changes(), row.spreads(), row.values(), strict=True)]
        for row in reduction_rows(result)
    ]
    if not lines:
        return None
    head = ("chain", "frame", "load", "variant", *REDUCED_HEAD.values())
    words = tag(
        "p", f"{REDUCED_MEANING} In small, its spread, and µs before and after. {UNSURE}", class_="dim"
    )
    return tag("div", sheet(f"Change of the delay to {result.baseline}", head, lines, 4), words)


def _changed(change: str, spread: str, values: str) -> Markup:
    small = [tag("small", text, class_="dim") for text in (spread, values) if text]
    return tag("div", tag("b", change), small, class_="changed")


def tuned(result: Result) -> Markup | None:
    """What of the lab's `host` held for each way, and what this machine cannot show of it."""
    hosts, lines = host_of(result), host_lines(result)
    said = out_of_reach(result)
    if not lines and not said:
        return None
    return tag(
        "div",
        sheet("Each key of the host", ("key", *hosts), lines, 1 + len(hosts)) if lines else None,
        tag("h3", "What this machine cannot show") if said else None,
        sentences(said),
    )


def latency_over_load(result: Result) -> Markup | None:
    """One figure a technology, chain and frame with enough loads; None without any."""
    groups: dict[str, list[DelayRow]] = {}
    for row in delay_rows(result):
        if row.valid and not row.point.first_packets and row.stream is not None and row.stream.latency:
            frame = frame_label(row.case.frame)
            groups.setdefault(f"{row.setup.title}, frame {frame}", []).append(row)
    figures = [
        _figure(name, rows)
        for name, rows in groups.items()
        if len({row.point.load_pps for row in rows}) >= LEAST_LOADS
    ]
    return tag("div", figures, class_="charts") if figures else None


def _figure(name: str, rows: list[DelayRow]) -> Markup | None:
    found: list[tuple[float, Latency]] = []
    for row in sorted(rows, key=lambda row: row.point.load_pps):
        if row.stream is not None and row.stream.latency is not None:
            found.append((row.point.load_pps / 1e6, row.stream.latency))
    lines = [
        Line(quantile, tuple((mpps, getattr(latency, field)) for mpps, latency in found), index)
        for index, (quantile, field) in enumerate(QUANTILES)
    ]
    least_us = min(value for line in lines for _, value in line.points)
    most_us = max(value for line in lines for _, value in line.points)
    wide = least_us > 0 and most_us > 20 * least_us
    return line_chart(
        f"{name}: latency over load", lines, Axis("offered, Mpps"), Axis("latency, µs", logarithmic=wide)
    )


SECTION = Section(
    kind=kind,
    findings=findings,
    judged=judged,
    tables=plain_tables,
    terminal=tables,
    notes=notes,
    page=parts,
    csv=section_losses.csv,
)
