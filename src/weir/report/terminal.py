# SPDX-License-Identifier: Apache-2.0
"""The table in the terminal: for each chain and frame size a row for each technology.

Chains under one technology are compared with each other instead: a row for each chain.

With two goals it fits 80 columns; goals that do not fit side by side get a table each. Where there is room,
each ratio has its interval beside it.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from weir.report import (
    clock_text,
    delay_rows,
    delay_table,
    doubts,
    legend,
    migration_table,
    noise,
    numbers,
    rates,
    reduction_rows,
    reduction_table,
    soak_table,
    summary,
)
from weir.report.flags import FLAGS
from weir.report.format import Format
from weir.results.result import Case, Result, Setup

PLAIN_COLUMNS = 100  # where the sentences of a plain text are broken
FRAME_COLUMNS = 10
SPREAD = "±: how far the farthest repeat, or round, is from the median; the report has min and max."
SPANS = (
    "Least and greatest of each ratio: beside it where the terminal is wide enough, in the report and CSV."
)
BETWEEN = "–\n"


def show(result: Result, console: Console) -> None:
    """A terminal gets colours and lines of its own width; a file or a pipe gets what `render` gives."""
    if console.is_terminal:
        console.print(table(result))
    else:
        console.file.write(render(result))


def render(result: Result) -> str:
    """The table as plain text, for files and pipes."""
    out = io.StringIO()
    Console(file=out, width=PLAIN_COLUMNS, color_system=None, legacy_windows=False).print(table(result))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def table(result: Result) -> RenderableType:
    """The same for a rich console, with colours. Lab texts are never read as markup."""
    names: list[str | None] = [None] if summary.compares_chains(result) else [*summary.chains(result)]
    chains = [_Chain(result, name) for name in names]
    long = [*soak_table.tables(result), *migration_table.tables(result)]
    delays = [*long, *delay_table.tables(result), *reduction_table.tables(result)]
    return Group(_heading(result), *chains, *delays, *_notes(result))


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
            (count, spans)
            for count in range(len(goals), 0, -1)
            for spans in ((True, False) if with_spans and self.name is not None else (False,))
        ]
        natural = options.update(max_width=10 * options.max_width)
        for count, spans in layouts:
            tables = [
                _chain_table(self.result, self.name, goals[first : first + count], spans=spans)
                for first in range(0, len(goals), count)
            ]
            if all(Measurement.get(console, natural, each).maximum <= options.max_width for each in tables):
                break
        yield from (each for each in tables if each.row_count)


def _spans(result: Result) -> bool:
    """Whether any ratio has an interval."""
    return any(row.ratio is not None and row.ratio.span for row in summary.rows(result))


def _heading(result: Result) -> Text:
    mode = "quick run" if result.quick else "full run"
    head = Text(summary.title(result), style="bold")
    head.append(f"\n{result.fingerprint.cpu}, {result.fingerprint.cores} cores · {mode}", style="dim")
    head.append(f" · {numbers.seconds(result.seconds)} · {result.id}", style="dim")
    if result.interrupted:
        head.append("\nInterrupted: what had finished is below.", style="bold yellow")
    return head


def _chain_table(result: Result, chain: str | None, goals: list[str], *, spans: bool) -> Table:
    """Technologies of one chain, with their ratios; or, of None, all chains under their one technology.

    `spans`: each ratio's interval too.
    """
    title = f"\n{result.baseline}" if chain is None else f"\n{chain}, ratios to {result.baseline}"
    out = Table(
        title=Text(title, overflow="fold"), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    out.show_edge, out.padding = False, 0
    out.add_column("Frame", overflow="fold", max_width=FRAME_COLUMNS)
    out.add_column("Chain" if chain is None else "Technology", overflow="fold", max_width=13)
    for goal in goals:
        out.add_column(f"{goal}\nMpps", justify="right", style="bold", overflow="fold", min_width=6)
        out.add_column("", justify="right", style="dim", no_wrap=True, min_width=4)
        out.add_column("Gbit/s", justify="right", no_wrap=True)
        if chain is not None:
            out.add_column("ratio", justify="right", no_wrap=True)
        if spans:
            out.add_column("", justify="right", style="dim", no_wrap=True)
    out.add_column("Flag")
    for frame in summary.frames(result, chain):
        named = False
        for setup, case in _cases(result, chain, frame):
            cells = list(_cells(result, case, goals, ratios=chain is not None, spans=spans))
            name = setup.chain if chain is None else setup.name
            out.add_row(Text("" if named else summary.frame_label(frame)), Text(name), *cells)
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
    letters = "X" if case.problem is not None else ""
    for goal in goals:
        row = rows.get(goal)
        found = row.throughput if row else None
        yield Text(rates.mpps(found, BETWEEN))
        yield Text(numbers.around(rates.farthest(found)))
        yield Text(rates.gbps(found, BETWEEN))
        if ratios:
            yield Text(row.ratio_text if row else numbers.NONE)
        if spans:
            yield Text(row.ratio.span if row and row.ratio else "")
        letters += row.flags if row else ""
    yield Text("".join(letter for letter in FLAGS if letter in letters), style="yellow")


def _notes(result: Result) -> Iterator[RenderableType]:
    yield Text("")
    yield from _list("Flags", legend.flags_used(result).items(), "bold")
    refused = [f"{name}: {missing}" for name, missing in summary.refusals(result)]
    yield from _list("Refused here", _points(refused), "yellow")
    yield from _list("Read with care", _points(doubts.sentences(result)), "yellow")
    yield from _list("This machine was noisy", _points(noise.sentences(result)), "yellow")
    tuned = reduction_rows.host_of(result)
    done = [f"{name}: {reduction_rows.applied(settings)}" for name, settings in tuned.items()]
    yield from _list("Tuned on this machine", _points(done), "bold")
    yield from _list("What this machine cannot show", _points(reduction_rows.out_of_reach(result)), "yellow")
    delays = [delay_rows.MEANING] if any(True for _ in delay_rows.delay_rows(result)) else []
    spans = [SPANS] if _spans(result) and not summary.compares_chains(result) else []
    delays += [reduction_rows.MEANING, reduction_rows.UNSURE] if result.reductions else []
    yield from _list("How to read it", _points([*legend.sentences(result), *spans, SPREAD, *delays]), "bold")
    alone = clock_text.floors(result) if delays else ()
    yield from _list("The tester alone", _points([*alone]), "bold")
    rests = [
        sentence + (f" ({', '.join(names)})" if names else "") for sentence, names in summary.fidelity(result)
    ]
    yield from _list("What the numbers rest on", _points(rests), "bold")


def _points(sentences: Sequence[str]) -> list[tuple[str, str]]:
    return [("–", sentence) for sentence in sentences]


def _list(title: str, items: Collection[tuple[str, str]], style: str) -> Iterator[RenderableType]:
    """A mark and a sentence each, with hanging indents."""
    if items:
        rows = Table.grid(padding=(0, 1, 0, 0))
        for mark, sentence in items:
            rows.add_row(mark, Text(sentence, overflow="fold"))
        yield Text(title, style=style)
        yield Padding(rows, (0, 0, 0, 2))


FORMAT = Format("terminal", ".txt", "the table in the terminal", render)
