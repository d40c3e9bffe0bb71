# SPDX-License-Identifier: Apache-2.0
"""What each step brings, in reports: one table, one plot, a sentence; as CSV a row for each step and goal,
with the reason in `why` where it has no rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.procedures.steps.section_gains import Ladder, Step, ladders
from weir.report import blocks, cycles, numbers, rates, summary
from weir.report.page.bar_chart import Bar, Group, bar_chart
from weir.report.page.chart_axes import Axis
from weir.report.page.markup import sentence, sheet, tag
from weir.report.rates import NoRatio, Ratio
from weir.report.sections import HOW_TO_READ, Cell, CsvTable, Note, PagePart, PlainTable, Section
from weir.results.result import Result

TITLE = "What each step brings"
MEANING = (
    "Each step is the one before it with one thing more. × before and × first: the rate as a multiple of "
    "that of the step before it, or of the first: the median of the rounds, with the least and the greatest.",
    "Cycles: of the time-stamp counter, for each packet that the tester sent, in the trials that confirm the "
    "rate, round by round: of what functions do with packets, in their stages and in the fast path; and of "
    "the whole way but the tester: functions, ports, rings between cores, switch and kernel, and what others "
    "had of its cores meanwhile. Fewer: how many times as few as in the step before it, or in the first. "
    f"{cycles.AT_MOST}",
)
SERIES = ("rate", "packets in the same cycles, functions", "packets in the same cycles, whole way")
HEAD = (
    "chain, frame", "step", "{goal}, Mpps", "× before", "× first",
    "cycles, functions", "fewer × before", "fewer × first", "cycles, way", "fewer × before", "fewer × first",
)  # fmt: skip
WORDS = 2
COLUMNS = (
    "run", "lab", "technology", "chain", "frame", "goal", "step", "step_before", "status", "why", "load_pps",
    "load_min_pps", "load_max_pps", "flags", "ratio_to_step_before", "ratio_to_step_before_min",
    "ratio_to_step_before_max", "ratio_to_step_before_bound", "ratio_to_first_step",
    "ratio_to_first_step_min", "ratio_to_first_step_max", "ratio_to_first_step_bound",
    "functions_cycles_per_packet", "functions_fewer_than_step_before",
    "functions_fewer_than_step_before_min", "functions_fewer_than_step_before_max",
    "functions_fewer_than_first_step", "way_cycles_per_packet", "cycles_bound",
    "way_fewer_than_step_before",
    "way_fewer_than_first_step", "confirming_trials",
)  # fmt: skip
BAR_COLUMNS = 40


def tables(result: Result) -> Iterator[RenderableType]:
    """One table of all, and bars of characters; nothing of a lab without steps."""
    found = ladders(result)
    if found:
        yield _table(found)
        yield from _bars(found)


def _table(found: Sequence[Ladder]) -> Table:
    out = blocks.table(f"\n{TITLE}: {found[0].goal}")
    out.add_column("Step", overflow="fold", max_width=16)
    for name in ("Mpps", "×\nbefore", "", "×\nfirst", "cycles", "fewer ×\nbefore", "", "fewer ×\nfirst"):
        out.add_column(name, justify="right", overflow="fold", style=None if name else "dim")
    for ladder in found:
        if len(found) > 1:
            out.add_row(Text(ladder.title, style="bold"))
        for step in ladder.steps:
            before, first = step.to_before, step.to_first
            out.add_row(
                Text(step.name),
                Text(f"{rates.mpps(step.found)} {step.flags}".rstrip()),
                _times(before.rate),
                _span(before.rate),
                _times(first.rate),
                cycles.said(step.functions),
                _times(before.functions),
                _span(before.functions),
                _times(first.functions),
                style=None if step.why is None else "yellow",
            )
        out.add_section()
    return out


def _bars(found: Sequence[Ladder]) -> Iterator[Text]:
    """Rates as multiples of the first step's, then fewer cycles, to one scale."""
    every = [value for ladder in found for step in ladder.steps for value in _heights(step)[:2] if value]
    most = max((bar.value for bar in every), default=0.0)
    if most <= 0:
        return
    yield Text(f"\n█ {SERIES[0]}, ▒ {SERIES[1]}: × the first step", style="dim")
    width = max(len(step.name) for ladder in found for step in ladder.steps)
    for ladder in found:
        if len(found) > 1:
            yield Text(ladder.title, style="bold")
        for step in ladder.steps:
            name = step.name
            for mark, bar in zip("█▒", _heights(step)[:2], strict=True):
                if bar is not None:
                    drawn = mark * max(1, round(BAR_COLUMNS * bar.value / most))
                    yield Text(f"  {name:{width}} {drawn} {numbers.times(bar.value)}")
                    name = ""


def plain_tables(result: Result) -> Iterator[PlainTable]:
    """The same, whole."""
    found = ladders(result)
    if found:
        lines = [_line(ladder, step) for ladder in found for step in ladder.steps]
        yield PlainTable(TITLE, _head(found), lines, WORDS, " ".join(MEANING))


def _head(found: Sequence[Ladder]) -> tuple[str, ...]:
    return tuple(name.format(goal=found[0].goal) for name in HEAD)


def _line(ladder: Ladder, step: Step) -> list[str]:
    before, first = step.to_before, step.to_first
    return [
        ladder.title,
        step.name,
        f"{rates.mpps(step.found)} {step.flags}".rstrip(),
        *(_whole(one.rate) for one in (before, first)),
        cycles.said(step.functions),
        *(_whole(one.functions) for one in (before, first)),
        cycles.said(step.way),
        *(_whole(one.way) for one in (before, first)),
    ]


def parts(result: Result) -> Iterator[PagePart]:
    """The plot and the table; nothing of a lab without steps."""
    for table in plain_tables(result):
        charts = [chart for chart in map(_chart, ladders(result)) if chart is not None]
        words = "Bars: × the first step; in brackets × the step before it. Whiskers: least and greatest."
        yield PagePart(
            "Steps",
            TITLE,
            words,
            (
                tag("div", charts, class_="charts") if charts else None,
                sheet(TITLE, table.head, table.lines, table.words, wrap=True),
                tag("p", sentence(table.note), class_="dim"),
            ),
        )


def _chart(ladder: Ladder) -> Markup | None:
    groups = [Group(step.name, _heights(step)) for step in ladder.steps]
    return bar_chart(f"{ladder.title}, {ladder.goal}", SERIES, groups, Axis("× the first step"), mark=1.0)


def _heights(step: Step) -> tuple[Bar | None, Bar | None, Bar | None]:
    """As SERIES; the first step's are 1."""
    if step.before is None:
        one = Bar(1.0, 1.0, 1.0, "1")
        has = (bool(rates.single_pps(step.found)), step.functions is not None, step.way is not None)
        rate, functions, way = (one if known else None for known in has)
        return rate, functions, way
    before, first = step.to_before, step.to_first
    return (
        _bar(first.rate, before.rate),
        _bar(first.functions, before.functions),
        _bar(first.way, before.way),
    )


def _bar(first: Ratio | NoRatio | None, before: Ratio | NoRatio | None) -> Bar | None:
    if not isinstance(first, Ratio):
        return None
    behind = f" ({before.text})" if isinstance(before, Ratio) else ""
    return Bar(first.value, first.low, first.high, f"{first.text}{behind}")


def notes(result: Result) -> Iterator[Note]:
    """What the columns mean, and why a step has no rate."""
    found = ladders(result)
    if found:
        yield Note(HOW_TO_READ, list(MEANING))
        without = [
            f"{step.name}, {ladder.title}: {step.why}"
            for ladder in found
            for step in ladder.steps
            if step.why is not None and step.case is not None
        ]
        yield Note("Steps without a rate", without, "yellow")


def findings(result: Result) -> Iterator[str]:
    """A sentence on the first ladder: what each step brings, then all together."""
    for ladder in ladders(result)[:1]:
        told = [(step, step.to_before.rate) for step in ladder.steps if step.found]
        known = [(step, ratio) for step, ratio in told if isinstance(ratio, Ratio)]
        if known:
            said = ", ".join(f"{step.name} {ratio.text} ×{_in(ratio)}" for step, ratio in known)
            yield f"Step by step, {ladder.goal} through {ladder.title}: {said} the rate of the one before."


def _in(ratio: Ratio) -> str:
    return f" ({ratio.span})" if ratio.span else ""


def csv(result: Result) -> CsvTable | None:
    """Of all goals."""
    found = [one for goal in summary.goals(result) for one in ladders(result, goal)]
    return CsvTable(COLUMNS, _csv_rows(result, found)) if found else None


def _csv_rows(result: Result, found: Sequence[Ladder]) -> Iterator[dict[str, Cell]]:
    for ladder in found:
        for step in ladder.steps:
            yield {
                "run": result.id,
                "lab": result.lab,
                "technology": step.setup.technology,
                "chain": ladder.chain,
                "frame": ladder.frame,
                "goal": ladder.goal,
                **_csv(step),
            }


def _csv(step: Step) -> dict[str, Cell]:
    before, first = step.to_before, step.to_first
    cells: dict[str, Cell] = {
        "step": step.name,
        "step_before": step.before.name if step.before is not None else None,
        "status": _status(step),
        "why": step.why,
        "flags": step.flags,
        "functions_cycles_per_packet": step.functions.cycles if step.functions is not None else None,
        "way_cycles_per_packet": step.way.cycles if step.way is not None else None,
        "cycles_bound": step.way.bound if step.way is not None else None,
        "confirming_trials": step.way.trials if step.way is not None else None,
    }
    if step.found is not None and not step.found.out_of_time:
        cells |= {name: getattr(step.found, name) for name in ("load_pps", "load_min_pps", "load_max_pps")}
    for name, ratio in (("ratio_to_step_before", before.rate), ("ratio_to_first_step", first.rate)):
        if isinstance(ratio, Ratio):
            cells |= {name: ratio.value, f"{name}_min": ratio.low, f"{name}_max": ratio.high}
            cells[f"{name}_bound"] = ratio.bound
    if before.functions is not None:
        name = "functions_fewer_than_step_before"
        cells |= {f"{name}_min": before.functions.low, f"{name}_max": before.functions.high}
    for name, ratio in (
        ("functions_fewer_than_step_before", before.functions),
        ("functions_fewer_than_first_step", first.functions),
        ("way_fewer_than_step_before", before.way),
        ("way_fewer_than_first_step", first.way),
    ):
        cells[name] = ratio.value if ratio is not None else None
    return cells


def _status(step: Step) -> str:
    if step.found is None:
        return "refused" if step.case is None else "given up"
    return "out of time" if step.found.out_of_time else step.found.status


def _times(ratio: Ratio | NoRatio | None) -> str:
    return ratio.text if isinstance(ratio, Ratio) else numbers.NONE


def _span(ratio: Ratio | NoRatio | None) -> str:
    return ratio.span if isinstance(ratio, Ratio) else ""


def _whole(ratio: Ratio | NoRatio | None) -> str:
    """ "2.00 (1.90–2.10)"."""
    return _times(ratio) + _in(ratio) if isinstance(ratio, Ratio) else numbers.NONE


SECTION = Section(
    findings=findings,
    tables=plain_tables,
    terminal=tables,
    notes=notes,
    page=parts,
    csv=csv,
    leads=True,
)
