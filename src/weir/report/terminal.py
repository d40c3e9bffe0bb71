# SPDX-License-Identifier: Apache-2.0
"""The table in the terminal: for each chain and frame size a row for each technology. Fits 100 columns."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from weir.report import legend, numbers, summary
from weir.report.format import Format
from weir.store.result import Case, Result, Setup, Throughput

WIDTH_COLUMNS = 100
GOALS_A_TABLE = 2


def render(result: Result) -> str:
    """The table as plain text, for files and pipes."""
    out = io.StringIO()
    Console(file=out, width=WIDTH_COLUMNS, color_system=None, legacy_windows=False).print(table(result))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def table(result: Result) -> RenderableType:
    """The same for a rich console, with colours. Lab texts are never read as markup."""
    parts: list[RenderableType] = [_heading(result)]
    goals = summary.goals(result)
    for chain in summary.chains(result):
        for first in range(0, len(goals), GOALS_A_TABLE):
            part = _chain_table(result, chain, goals[first : first + GOALS_A_TABLE])
            if part.row_count:
                parts.append(part)
    parts.extend(_notes(result))
    return Group(*parts)


def _heading(result: Result) -> Text:
    mode = "quick run" if result.quick else "full run"
    head = Text(summary.title(result), style="bold")
    head.append(f"\n{result.fingerprint.cpu}, {result.fingerprint.cores} cores · {mode}", style="dim")
    head.append(f" · {numbers.seconds(result.seconds)} · {result.id}", style="dim")
    if result.interrupted:
        head.append("\nInterrupted: what had finished is below.", style="bold yellow")
    return head


def _chain_table(result: Result, chain: str, goals: list[str]) -> Table:
    out = Table(title=Text(f"\n{chain}"), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    out.padding = 0
    out.add_column("Frame", overflow="fold", max_width=11)
    out.add_column("Technology", no_wrap=True, max_width=13)
    for goal in goals:
        out.add_column(f"{goal}\nMpps", justify="right", no_wrap=True, style="bold", min_width=7)
        out.add_column("min–max", justify="right", no_wrap=True, style="dim", header_style="dim")
        out.add_column("Gbit/s", justify="right", no_wrap=True)
        out.add_column("ratio", justify="right", no_wrap=True)
    out.add_column("Flags", no_wrap=True)
    for frame in summary.frames(result, chain):
        named = False
        for setup, case in _cases(result, chain, frame):
            cells = list(_cells(result, setup, case, goals))
            out.add_row(Text("" if named else summary.frame_label(frame)), Text(setup.technology), *cells)
            named = True
        out.add_section()
    return out


def _cases(result: Result, chain: str, frame: str) -> Iterator[tuple[Setup, Case]]:
    for setup in result.setups:
        if setup.chain == chain:
            for case in setup.cases:
                if case.frame == frame:
                    yield setup, case


def _cells(result: Result, setup: Setup, case: Case, goals: list[str]) -> Iterator[Text]:
    found = {row.throughput.goal: row for row in summary.rows(result) if row.case is case}
    flags = []
    for goal in goals:
        row = found.get(goal)
        throughput = row.throughput if row else Throughput(goal=goal, goal_loss_ratio=0, status="irregular")
        yield Text(numbers.mpps(throughput.load_pps))
        yield Text(numbers.span_mpps(throughput.load_min_pps, throughput.load_max_pps))
        yield Text(numbers.gbps(throughput.l2_bps))
        own = setup.technology == result.baseline and row is not None and row.ratio is not None
        yield Text("1" if own else numbers.times(row.ratio if row else None))
        flags.append(row.flags if row else "")
    if case.problem is not None:
        flags.append("X")
    yield Text(
        "".join(letter for letter in legend.FLAGS if any(letter in each for each in flags)), style="yellow"
    )


def _notes(result: Result) -> Iterator[RenderableType]:
    yield Text("")
    yield from _list(
        "Refused here", [f"{name}: {missing}" for name, missing in summary.refusals(result)], "yellow"
    )
    yield from _list("Read with care", summary.reasons(result), "yellow")
    yield from _list("This machine was noisy", summary.noise(result), "yellow")
    used = legend.flags_used(result)
    yield from _list("Flags", [f"{letter}  {text}" for letter, text in used.items()], "bold")
    yield from _list("How to read it", list(legend.sentences(result)), "bold")
    rests = [
        sentence + (f" ({', '.join(names)})" if names else "") for sentence, names in summary.fidelity(result)
    ]
    yield from _list("What the numbers rest on", rests, "bold")


def _list(title: str, sentences: list[str], style: str) -> Iterator[RenderableType]:
    if sentences:
        yield Text(title, style=style)
        for sentence in sentences:
            yield Padding(Text(sentence), (0, 0, 0, 2))


FORMAT = Format("table", ".txt", "the table in the terminal", render)
