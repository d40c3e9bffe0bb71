# SPDX-License-Identifier: Apache-2.0
"""The throughputs in reports: for each chain and frame size a row for each technology.

Chains under one technology are compared with each other instead: a row for each chain. In the terminal two
goals fit 80 columns; goals that do not fit side by side get a table each. Where there is room, each ratio has
its interval beside it. Flags are beside the rate that they are of.

The CSV has one row for each throughput. A technology that was refused, and a case that was given up before
it had any, have one row too, with that status, the reason in `why`, and no numbers, so that nothing is
missing silently. What a case had that was given up later is in its rows, with the reason behind their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from weir.lab.frames import frame_label
from weir.procedures.throughput import section_page
from weir.procedures.throughput.section_findings import findings
from weir.report import blocks, cycles, legend, numbers, rates, summary
from weir.report.rates import FLAGS
from weir.report.sections import HOW_TO_READ, LETTERS, Cell, CsvTable, Note, PlainTable, Section
from weir.results.result import Case, Result, Setup, Throughput
from weir.results.rounds import given_up, why_not_whole

FRAME_COLUMNS = 10
SPREAD = "±: how far the farthest repeat, or round, is from the median; the report has min and max."
SPANS = (
    "Least and greatest of each ratio: beside it where the terminal is wide enough, in the report and CSV."
)
BETWEEN = "–\n"

# fmt: off
COLUMNS = (
    "run", "lab", "technology", "chain", "datapath", "frame", "mean_frame_bytes", "goal", "goal_loss_ratio",
    "status", "why", "load_pps", "load_min_pps", "load_max_pps", "lower_bound_pps", "upper_bound_pps",
    "repeats", "l2_bps", "l1_bps", "loss_ratio", "ratio_to_baseline", "ratio_min", "ratio_max",
    "ratio_bound", "baseline", "flags", "tester_bound", "disturbed", "out_of_time", "slower_times",
    "farther_times", "left_out_share", "unsteady", "ceiling_pps", "variant", "searches", "unmeasured",
    "lab_bound", "functions_cycles_per_packet", "threads_cycles_per_packet", "way_cycles_per_packet",
    "cycles_bound",
)
# fmt: on


def tables(result: Result) -> Iterator[RenderableType]:
    """One a chain, or one of all chains."""
    names: list[str | None] = [None] if summary.compares_chains(result) else [*summary.chains(result)]
    for name in names:
        yield _Chain(result, name)


def kind(result: Result) -> str | None:
    """Of a run that searched, or was to."""
    return "throughput" if summary.goals(result) or summary.measure_of(result).get("goals") else None


def notes(result: Result) -> Iterator[Note]:
    """Flags, and what columns mean."""
    flags = legend.flags_used(result)
    yield Note(LETTERS, list(flags.values()), marks=list(flags))
    if summary.goals(result):
        spans = [SPANS] if _spans(result) and summary.compares(result) else []
        yield Note(HOW_TO_READ, [*legend.sentences(result), *spans, SPREAD])


def csv(result: Result) -> CsvTable | None:
    """Of every run, but those that only measured delays, which have a table of their own."""
    only_delays = kind(result) is None and summary.measure_of(result).get("latency")
    return None if only_delays else CsvTable(COLUMNS, _rows(result))


def plain_tables(result: Result) -> Iterator[PlainTable]:
    """One a chain: a row for each frame size, technology and goal."""
    ratios = summary.compares(result)
    unit = summary.rate_unit(result).label
    head = ("frame", summary.way_title(result).lower(), "goal", "flags", unit, "min–max", "Gbit/s")
    for chain in summary.chains(result):
        lines = []
        for frame in summary.frames(result, chain):
            for setup, case in _cases(result, chain, frame):
                lines += [_plain(result, setup, case, goal, ratios=ratios) for goal in summary.goals(result)]
        lines += [
            [numbers.NONE, setup.name, f"left out: {setup.refused}", *[""] * (len(head) - 3 + 2 * ratios)]
            for setup in result.setups
            if setup.chain == chain and setup.refused is not None
        ]
        if lines:
            spans = (f"ratio to {result.baseline}", "min–max of it") if ratios else ()
            yield PlainTable(f"Throughput, {chain}", (*head, *spans), lines, 4)


def _plain(result: Result, setup: Setup, case: Case, goal: str, *, ratios: bool) -> list[str]:
    rows = (row for row in summary.rows(result) if row.case is case and row.throughput.goal == goal)
    row = next(rows, None)
    found = row.throughput if row is not None else None
    unit = summary.rate_unit(result)
    cells = [frame_label(case.frame), setup.name, goal, legend.flags_of(row, case)]
    cells += [rates.bounded_mpps(found, unit=unit), rates.span_mpps(found, unit), rates.gbps(found)]
    if ratios:
        cells += [row.ratio_text, row.ratio.span if row.ratio else ""] if row else [numbers.NONE, ""]
    return cells


@dataclass(frozen=True)
class _Chain:
    """One chain, or all: as many goals side by side as the console has columns for, at least one."""

    result: Result
    name: str | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        goals = summary.goals(self.result)
        if not goals:
            return
        with_spans = _spans(self.result)
        layouts = [
            (count, spans, letters)
            for count in range(len(goals), 0, -1)
            for spans in ((True, False) if with_spans and summary.compares(self.result) else (False,))
            for letters in ((len(FLAGS),) if spans else (len(FLAGS), 1))
        ]
        natural = options.update(max_width=10 * options.max_width)
        for count, spans, letters in layouts:
            tables = [
                _chain_table(self.result, self.name, goals[first : first + count], letters, spans=spans)
                for first in range(0, len(goals), count)
            ]
            if all(Measurement.get(console, natural, each).maximum <= options.max_width for each in tables):
                break
        yield from (each for each in tables if each.row_count)


def _spans(result: Result) -> bool:
    """Whether any ratio has an interval."""
    return any(row.ratio is not None and row.ratio.span for row in summary.rows(result))


def _chain_table(result: Result, chain: str | None, goals: list[str], letters: int, *, spans: bool) -> Table:
    """Technologies of one chain, with their ratios; or, of None, all chains under their one technology.

    One chain under one technology has neither names nor ratios. `letters`: flags side by side, others below
    them. `spans`: each ratio's interval too.
    """
    ratios = summary.compares(result)
    names = ratios or chain is None
    only = ", ".join(summary.built(result))
    title = (
        only if chain is None else f"{chain}, ratios to {result.baseline}" if ratios else f"{only} {chain}"
    )
    out = blocks.table(f"\n{title}", between=0)
    out.add_column("Frame", overflow="fold", max_width=FRAME_COLUMNS)
    if names:
        out.add_column("Chain" if chain is None else summary.way_title(result), overflow="fold", max_width=13)
    for goal in goals:
        out.add_column(
            f"{goal}\n{summary.rate_unit(result).label}",
            justify="right",
            style="bold",
            overflow="fold",
            min_width=6,
        )
        out.add_column("", justify="right", style="dim", no_wrap=True, min_width=4)
        out.add_column("", style="yellow", overflow="fold", max_width=letters)
        out.add_column("Gbit/s", justify="right", no_wrap=True)
        if ratios:
            out.add_column("ratio", justify="right", no_wrap=True)
        if spans:
            out.add_column("", justify="right", style="dim", no_wrap=True)
    for frame in summary.frames(result, chain):
        named = False
        for setup, case in _cases(result, chain, frame):
            cells = list(_cells(result, case, goals, ratios=ratios, spans=spans))
            if names:
                cells.insert(0, Text(setup.chain if chain is None else setup.name))
            out.add_row(Text("" if named else frame_label(frame)), *cells)
            named = True
        out.add_section()
    return out


def _cases(result: Result, chain: str | None, frame: str) -> Iterator[tuple[Setup, Case]]:
    for setup in result.setups:
        if chain in (None, setup.chain):
            for case in setup.cases:
                if case.frame == frame:
                    yield setup, case


def _cells(result: Result, case: Case, goals: list[str], *, ratios: bool, spans: bool) -> Iterator[Text]:
    rows = {row.throughput.goal: row for row in summary.rows(result) if row.case is case}
    unit = summary.rate_unit(result)
    for goal in goals:
        row = rows.get(goal)
        found = row.throughput if row else None
        yield Text(rates.bounded_mpps(found, BETWEEN, unit))
        yield Text(numbers.around(rates.farthest(found)))
        yield Text(legend.flags_of(row, case))
        yield Text(rates.gbps(found, BETWEEN))
        if ratios:
            yield Text(row.ratio_text if row else numbers.NONE)
        if spans:
            yield Text(row.ratio.span if row and row.ratio else "")


def _rows(result: Result) -> Iterator[dict[str, Cell]]:
    for setup in result.setups:
        if setup.refused is not None:
            yield _place(result, setup, None) | {"status": "refused", "why": setup.refused}
        for case in setup.cases:
            if case.problem is not None and not case.throughput:
                yield _place(result, setup, case) | {
                    "status": "given up" if given_up(case) else "not finished",
                    "why": why_not_whole(case),
                    "flags": legend.flags_of(None, case),
                }
    for row in summary.rows(result):
        yield _place(result, row.setup, row.case) | {
            **row.throughput.model_dump(exclude={"rounds", "distances_cycles", "stall_labelled"}),
            **_interval(row.throughput),
            **_ratio(row),
            **_cycles(row),
            "why": " ".join(filter(None, (row.throughput.why, why_not_whole(row.case)))) or None,
            "disturbed": row.throughput.beside_others,
            "flags": legend.flags_of(row, row.case),
        }


def _interval(found: Throughput) -> dict[str, Cell]:
    """Of an answer that is an interval: both its ends, and no rate that looks like one that was found."""
    ends = found.interval_pps
    if ends is None:
        return {}
    without: dict[str, Cell] = dict.fromkeys(
        ("load_pps", "load_min_pps", "load_max_pps", "l2_bps", "l1_bps", "loss_ratio")
    )
    return {**without, "status": "out of time", "lower_bound_pps": ends[0], "upper_bound_pps": ends[1]}


def _ratio(row: summary.Row) -> dict[str, Cell]:
    if row.ratio is None:
        return {"ratio_bound": "none"}
    return {
        "ratio_to_baseline": row.ratio.value,
        "ratio_min": row.ratio.low,
        "ratio_max": row.ratio.high,
        "ratio_bound": row.ratio.bound,
    }


def _cycles(row: summary.Row) -> dict[str, Cell]:
    """Of the trials that confirm the rate."""
    ways = {"functions": cycles.in_functions, "threads": cycles.in_threads, "way": cycles.on_the_way}
    found = {name: cycles.cost(row.case, way, row.throughput.goal) for name, way in ways.items()}
    known: dict[str, Cell] = {
        f"{name}_cycles_per_packet": one.cycles for name, one in found.items() if one is not None
    }
    way = found["way"]
    return known if way is None else {**known, "cycles_bound": way.bound}


def _place(result: Result, setup: Setup, case: Case | None) -> dict[str, Cell]:
    return {
        "run": result.id,
        "lab": result.lab,
        "technology": setup.technology,
        "variant": setup.variant,
        "chain": setup.chain,
        "datapath": setup.datapath,
        "frame": case.frame if case else None,
        "mean_frame_bytes": case.mean_frame_bytes if case else None,
        "baseline": result.baseline,
        "ceiling_pps": case.ceiling.max_pps if case and case.ceiling else None,
    }


SECTION = Section(
    kind=kind,
    findings=findings,
    tables=plain_tables,
    terminal=tables,
    notes=notes,
    page=section_page.parts,
    csv=csv,
)
