# SPDX-License-Identifier: Apache-2.0
"""The report in the terminal: what was run, each procedure's tables, and what to know of them: in a few
lines, so that the tables stay in sight, or the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from weir.report import Format, blocks, doubts, legend, noise, summary
from weir.report.sections import HOW_TO_READ, LETTERS, TESTER_ALONE, Note, executive_summary, kind, sections
from weir.results.result import Result

PLAIN_COLUMNS = 100  # where the sentences of a plain text are broken
CARE, NOISY, RESTS = "Read with care", "This machine was noisy", "What the numbers rest on"
LEFT_OUT = "Left out here"
FIRST = (LETTERS, LEFT_OUT, CARE, NOISY)
LAST = (HOW_TO_READ, TESTER_ALONE, RESTS)
"""Titles of notes; others come between."""


def show(result: Result, console: Console, *, whole: bool = False) -> None:
    """A terminal gets colours and lines of its own width; a file or a pipe gets what `render` gives."""
    blocks.show(table(result, whole=whole), console, PLAIN_COLUMNS)


def render(result: Result, *, whole: bool = False) -> str:
    """The table as plain text, for files and pipes."""
    return blocks.plain(table(result, whole=whole), PLAIN_COLUMNS)


def table(result: Result, *, whole: bool = False) -> RenderableType:
    """The same for a rich console, with colours. Lab texts are never read as markup.

    `whole`: every remark, and what the columns mean and the numbers rest on.
    """
    parts = [part for section in sections(result) for part in section.terminal(result)]
    short = blocks.listed("\nSummary", executive_summary(result), "bold")
    return Group(_heading(result), *short, *parts, Text(""), *(_notes if whole else _brief)(result))


def _heading(result: Result) -> Text:
    mode = "quick run" if result.quick else "full run"
    head = Text(summary.title(result), style="bold")
    head.append(f"\n{kind(result)} · {result.fingerprint.cpu}, {result.fingerprint.cores} cores", style="dim")
    head.append(f" · {mode} · {summary.duration(result)} · {result.id}", style="dim")
    if result.interrupted:
        head.append(f"\nInterrupted: {_what(result, 'what had finished')}.", style="bold yellow")
    elif result.finished_at is None:
        head.append(f"\nNot finished: {_what(result, 'what is stored so far')}.", style="bold yellow")
    missing = summary.left_out(result)
    if missing is not None:
        head.append(f"\n{missing}.", style="bold yellow")
    most = noise.headline(result)
    if most is not None:
        head.append(f"\n{most}", style="bold yellow")
    return head


def _what(result: Result, what: str) -> str:
    """ "what had finished is below", if there is any."""
    return f"{what} is below" if next(result.cases(), None) is not None else "nothing was measured by then"


def _notes(result: Result) -> Iterator[RenderableType]:
    """The report's own and those of the sections, of one title together."""
    together: dict[str, list[Note]] = {title: [] for title in FIRST}
    every = [*_own(result), *(note for section in sections(result) for note in section.notes(result))]
    for note in every:
        together.setdefault(note.title, []).append(note)
    middle = [title for title in together if title not in (*FIRST, *LAST)]
    for title in (*FIRST, *middle, *LAST):
        notes = together.get(title, [])
        sentences = [sentence for note in notes for sentence in note.sentences]
        marks = [mark for note in notes for mark in note.marks]
        yield from blocks.listed(title, sentences, notes[0].style if notes else "", marks)


def _brief(result: Result) -> Iterator[RenderableType]:
    """A line for each kind of remark, what the numbers rest on, and where the rest is."""
    every = [*_own(result), *(note for section in sections(result) for note in section.notes(result))]
    refused, care, noisy, rests = every[:4]
    marks, said = zip(*legend.counted(result), strict=True) if care.sentences else ((), ())
    yield from blocks.listed(care.title, said, care.style, marks)
    yield from blocks.listed(refused.title, refused.sentences, refused.style)
    yield from blocks.listed(noisy.title, noisy.sentences[:1], noisy.style)
    # Always whole: whoever quotes a rate must know that it is of emulated guests, or of shared cores.
    yield from blocks.listed(rests.title, rests.sentences, rests.style)
    shown = {id(one): len(one.sentences) for one in (refused, rests)} | {id(noisy): 1}
    more = dict.fromkeys(note.title for note in every if len(note.sentences) > shown.get(id(note), 0))
    if more:
        text = f"`weir report -v` of this run and its HTML page have the rest: {', '.join(more)}."
        yield Text(text, style="dim", overflow="fold")


def _own(result: Result) -> Iterator[Note]:
    refused = [f"{name}: {missing}" for name, missing in summary.refusals(result)]
    yield Note(LEFT_OUT, refused, "yellow")
    yield Note(CARE, doubts.sentences(result), "yellow")
    yield Note(NOISY, noise.sentences(result), "yellow")
    rests = [
        sentence + (f" ({', '.join(names)})" if names else "") for sentence, names in summary.fidelity(result)
    ]
    yield Note(RESTS, rests)
    yield Note(summary.OUTPUTS, summary.outputs(result))
    yield Note(summary.N4, summary.n4(result))


FORMAT = Format("terminal", ".txt", render)
