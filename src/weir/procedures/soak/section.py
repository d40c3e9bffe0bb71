# SPDX-License-Identifier: Apache-2.0
"""A soak in reports. In the terminal it fits 80 columns; its CSV has its intervals; on the page are facts,
plots over time, short runs against this one, events and drift.
"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.base.packet_rate import unit_of
from weir.lab.frames import frame_label
from weir.procedures.soak import section_away, section_events, section_rows
from weir.procedures.soak.section_rows import SoakRow
from weir.report import blocks
from weir.report.page.markup import needs_script, sentence, sentences, sheet, tag
from weir.report.sections import Cell, CsvTable, PagePart, PlainTable, Section
from weir.results.result import Result
from weir.results.soak import SoakInterval, SoakStream

# Of pools and tables there may be many; the page has all.
DRIFTS_SHOWN = 24
PAGE_EVENTS_SHOWN = 200
CSV_COLUMNS = (
    "run", "interval", "segment", "at", "from_s", "to_s", "direction", "offered", "refused", "delivered",
    "lost", "duplicates", "reordered", "min_us", "mean_us", "p50_us", "p90_us", "p99_us", "p999_us",
    "p9999_us", "max_us", "ipdv_p99_us", "jitter_mean_us", "jitter_max_us",
    "interval_dropped", "interval_stalls", "interval_stalled_us", "interval_host_stalls",
    "interval_host_stalled_us", "interval_longest_stall_us", "interval_events",
    "interval_events_unseen", "rss_kib", "cpu_s",
    "buffers_in_use", "look_ms", "step",
)  # fmt: skip


def tables(result: Result) -> Iterator[RenderableType]:
    """Nothing for a run without a soak."""
    for row in section_rows.soaks(result):
        yield from _soak(row)


def _soak(row: SoakRow) -> Iterator[RenderableType]:
    soak = row.soak
    title = f"\n{row.setup.title}, frame {frame_label(row.case.frame)}: soak"
    yield Text(title, style="bold")
    yield blocks.facts(section_rows.facts(soak))
    yield from blocks.listed("Know first", [*section_rows.remarks(row)], "bold yellow")
    if soak.schedule:
        yield _step_table(row)
    yield _prefix_table(row)
    yield from blocks.listed(
        "Events", [section_events.event_text(one) for one in section_events.notable(soak)], "bold"
    )
    yield from blocks.listed(
        "Limits broken by intervals", [*map(section_rows.broken_text, soak.broken)], "bold red"
    )
    if soak.drifts:
        yield _drift_table(row)


def _step_table(row: SoakRow) -> Table:
    out = blocks.table("\nLoads of the schedule: delay in µs, slower direction")
    out.add_column("Load")
    for name in section_rows.STEP_HEAD:
        out.add_column(name, justify="right", no_wrap=True)
    for line in section_rows.step_lines(row.soak):
        out.add_row(*line)
    return out


def _prefix_table(row: SoakRow) -> Table:
    out = blocks.table("\nShort runs and this one: delay in µs, slower direction")
    out.add_column("First")
    for name in (*section_rows.PREFIX_HEAD, "windows'\nmax: least", "median", "most"):
        out.add_column(name.replace(" max", "\nmax"), justify="right", no_wrap=True)
    for prefix in row.soak.prefixes:
        out.add_row(prefix.name, *section_rows.prefix_cells(prefix))
    return out


def _drift_table(row: SoakRow) -> Table:
    minutes = max(drift.seconds for drift in row.soak.drifts) / 60
    out = blocks.table(f"\nDrift over {minutes:.1f} min: fitted line, 95 % interval; –: it does not fit")
    for name in ("Of", "what"):
        out.add_column(name, overflow="fold")
    for name in ("start", "change", ""):
        out.add_column(name, justify="right")
    for drift in row.soak.drifts[:DRIFTS_SHOWN]:
        out.add_row(*section_rows.drift_cells(drift))
    return out


def csv(result: Result) -> CsvTable | None:
    """One row an interval and direction; what is of the whole interval, `interval_…` and all after them,
    stands in the row of each direction. Memory and CPU time are weir-dp's. None of a run without a soak."""
    soaks = section_rows.soaks(result)
    return CsvTable(CSV_COLUMNS, _csv_rows(result.id, soaks)) if soaks else None


def _csv_rows(run: str, soaks: list[SoakRow]) -> Iterator[dict[str, Cell]]:
    for row in soaks:
        for interval in row.soak.intervals:
            for stream in interval.streams:
                yield _csv_row(interval, stream) | {"run": run}


def _csv_row(interval: SoakInterval, stream: SoakStream) -> dict[str, Cell]:
    latency, ipdv, jitter = stream.latency, stream.ipdv, stream.jitter
    data_plane = next((one for one in interval.processes if one.name == "weir-dp"), None)
    names = ("min", "mean", "p50", "p90", "p99", "p999", "p9999", "max")
    counts = ("direction", "offered", "refused", "delivered", "lost", "duplicates", "reordered")
    return {
        "interval": interval.number,
        "segment": interval.segment,
        "at": interval.at,
        "from_s": round(interval.from_s, 3),
        "to_s": round(interval.to_s, 3),
        **{name: getattr(stream, name) for name in counts},
        **({f"{name}_us": round(getattr(latency, f"{name}_us"), 3) for name in names} if latency else {}),
        "ipdv_p99_us": round(ipdv.p99_size_us, 3) if ipdv else None,
        "jitter_mean_us": round(jitter.mean_us, 3) if jitter else None,
        "jitter_max_us": round(jitter.max_us, 3) if jitter else None,
        "interval_dropped": sum(one.packets for one in interval.drops),
        "interval_stalls": sum(one.count for one in interval.stalls),
        "interval_stalled_us": round(sum(one.total_us for one in interval.stalls), 1),
        "interval_host_stalls": sum(one.host_count for one in interval.stalls),
        "interval_host_stalled_us": round(sum(one.host_us for one in interval.stalls), 1),
        "interval_longest_stall_us": round(max((one.longest_us for one in interval.stalls), default=0.0), 1),
        "interval_events": len(interval.events) + interval.events_left_out,
        "interval_events_unseen": interval.losses_unseen or interval.stalls_unseen,
        "rss_kib": data_plane.rss_kib if data_plane else None,
        "cpu_s": data_plane.cpu_s if data_plane else None,
        "buffers_in_use": sum(pool.size - pool.free for pool in interval.pools),
        "look_ms": interval.look_ms,
        "step": interval.step,
    }


def parts(result: Result) -> Iterator[PagePart]:
    """One for all soaks; none for a run without. The script draws the plots from the embedded data."""
    rows = section_rows.soaks(result)
    if rows:
        yield PagePart(
            "Soak",
            "Under load for long",
            "Each point is an interval: the difference of counters that are never reset. Lines break where "
            "there was no load.",
            tuple(_one(row, index) for index, row in enumerate(rows)),
        )


def plain_tables(result: Result) -> Iterator[PlainTable]:
    """Facts, short runs against this one, and who had the cores."""
    for row in section_rows.soaks(result):
        title = f"{row.setup.title}, frame {frame_label(row.case.frame)}: soak"
        yield PlainTable(title, ("", ""), [list(pair) for pair in section_rows.facts(row.soak)], 2)
        yield from (one for one in (_steps(row), _prefixes(row), _away(row)) if one.lines)


def _away(row: SoakRow) -> PlainTable:
    head = ("core", "who had it", "how long", "of the time", "most in an interval", "at")
    return PlainTable("When cores were away", head, list(section_away.away_lines(row.soak)), 2)


def _one(row: SoakRow, index: int) -> Markup:
    title = f"{row.setup.title}, frame {frame_label(row.case.frame)}"
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in section_rows.facts(row.soak)]
    return tag(
        "div",
        tag("h3", title),
        tag("dl", facts, class_="facts"),
        sentences(section_rows.remarks(row), "plain why"),
        tag("div", class_="rows soak-plots", data_soak=index, data_unit=unit_of((row.soak.load_pps,)).label),
        tag("ul", class_="keys soak-keys"),
        needs_script("These plots"),
        *(
            [sheet(one.title, one.head, one.lines, one.words), tag("p", sentence(one.note), class_="dim")]
            for one in (_steps(row), _prefixes(row), _away(row))
            if one.lines
        ),
        _broken(row),
        _events(row),
        _drifts(row),
        class_="soak",
    )


def _steps(row: SoakRow) -> PlainTable:
    head = ("load", *section_rows.STEP_HEAD[:-4], *(f"{name}, µs" for name in section_rows.STEP_HEAD[-4:]))
    lines = list(section_rows.step_lines(row.soak))
    return PlainTable("Loads of the schedule", head, lines, 1, section_rows.STEP_MEANING)


def _prefixes(row: SoakRow) -> PlainTable:
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
    title = "Short runs and this one, slower direction; windows: greatest delay, µs"
    return PlainTable(title, head, lines, 1, section_rows.MEANING)


def _broken(row: SoakRow) -> Markup | None:
    items = [tag("li", section_rows.broken_text(one)) for one in row.soak.broken]
    return (
        tag("div", tag("b", "Limits broken by intervals"), tag("ul", items, class_="plain"))
        if items
        else None
    )


def _events(row: SoakRow) -> Markup:
    events = section_events.notable(row.soak, PAGE_EVENTS_SHOWN)
    if not events:
        return tag("p", "No packet went missing, and no loop stood still for 1 ms or more.")
    items = [tag("li", section_events.event_text(event)) for event in events]
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


SECTION = Section(
    kind=lambda result: "soak" if section_rows.soaks(result) else None,
    findings=section_rows.findings,
    tables=plain_tables,
    terminal=tables,
    page=parts,
    csv=csv,
    leads=True,
)
