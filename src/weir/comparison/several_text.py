# SPDX-License-Identifier: Apache-2.0
"""Several comparisons with the same runs, for people, in 100 columns: factor by factor, a line a side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.text import Text

from weir.comparison import text
from weir.lab.frames import frame_label
from weir.report import blocks, numbers
from weir.report.units import Written
from weir.results.comparison import Change, Comparison

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Names of sides; the first is what the others are compared with."""


@dataclass(frozen=True)
class Factor:
    """One rate or delay, and what became of it on each of the other sides."""

    chain: str
    way: str
    frame: str
    what: str
    changes: tuple[tuple[str, Change], ...]
    """By the side's letter."""

    @property
    def any(self) -> Change:
        """What all sides say alike: the unit, the value before."""
        return self.changes[0][1]


def factors(comparisons: Sequence[Comparison]) -> list[Factor]:
    """In the order of the first run, then of the others."""
    found: dict[tuple[str, str, str, str], list[tuple[str, Change]]] = {}
    for letter, comparison in zip(LETTERS[1:], comparisons, strict=False):
        for change in comparison.changes:
            key = change.chain, change.way, change.frame, change.what
            found.setdefault(key, []).append((letter, change))
    return [Factor(*key, tuple(changes)) for key, changes in found.items()]


def warnings(comparisons: Sequence[Comparison]) -> list[str]:
    """Each once, with the sides that it is of: "B, C: The kernel differs …"."""
    of: dict[str, list[str]] = {}
    for letter, comparison in zip(LETTERS[1:], comparisons, strict=False):
        for one in comparison.warnings:
            of.setdefault(one, []).append(letter)
    return [f"{', '.join(letters)}: {one}" for one, letters in of.items()]


def show(comparisons: Sequence[Comparison], console: Console) -> None:
    """Prints them."""
    blocks.show(Group(*_parts(comparisons)), console, text.PLAIN_COLUMNS)


def _parts(comparisons: Sequence[Comparison]) -> Iterator[RenderableType]:
    yield from text.runs(LETTERS[0], comparisons[0].before)
    for letter, comparison in zip(LETTERS[1:], comparisons, strict=False):
        yield from text.runs(letter, comparison.after)
    yield from blocks.listed("What else is different from A", warnings(comparisons), "yellow")
    for letter, comparison in zip(LETTERS[1:], comparisons, strict=False):
        yield Text(f"{letter} against A: {text.sentence(comparison)}", style="bold")
    found = factors(comparisons)
    for chain, unit in dict.fromkeys((one.chain, one.any.unit) for one in found):
        yield Text("")
        some = [one for one in found if (one.chain, one.any.unit) == (chain, unit)]
        yield _table(chain, some, unit_for(some))
    yield Text("")
    every = [change for comparison in comparisons for change in comparison.changes]
    yield from blocks.listed("How to read it", text.meanings(every, comparisons[0].smallest), "")
    said = [
        f"{letter}: {one}"
        for letter, comparison in zip(LETTERS[1:], comparisons, strict=False)
        for one in text.remarks(comparison.changes)
    ]
    yield from blocks.listed("Remarks", said, "")


def unit_for(found: Sequence[Factor]) -> Written:
    """How the values of these, which have one unit, are written side by side."""
    return text.unit_for([change for one in found for _, change in one.changes])


def _table(chain: str, found: Sequence[Factor], by: Written) -> RenderableType:
    out = text.factors_table(f"{chain}, {by.label}", "side", "value")
    for one in found:
        out.add_row(
            Text(one.way),
            frame_label(one.frame),
            Text(one.what),
            LETTERS[0],
            text.before(one.any, by),
            numbers.NONE,
            numbers.NONE,
            str(one.any.samples_before),
            "",
        )
        for letter, change in one.changes:
            out.add_row(
                "",
                "",
                "",
                letter,
                text.after(change, by),
                text.effect(change),
                text.interval(change),
                str(change.samples_after),
                Text(change.outcome, style=text.STYLES[change.outcome]),
            )
    return out
