# SPDX-License-Identifier: Apache-2.0
"""`weir compare`: what changed from one run, or several, to others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from weir.base.printable import printable
from weir.cli import completing
from weir.cli.exits import UNJUDGED, USAGE, CommandError, failed
from weir.cli.stored import LATEST, StoreLocation, stored

if TYPE_CHECKING:
    from weir.results.comparison import Change
    from weir.results.result import Result

RUNS = "A run's id or its beginning, `latest`, or a result.json; of several of the same, with commas between."


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=RUNS, autocompletion=completing.runs)],
    after: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="AFTER",
            help="Likewise; each is compared with the first. Absent: latest.",
            autocompletion=completing.runs,
        ),
    ] = None,
    *,
    threshold: Annotated[
        str, typer.Option("--threshold", metavar="SHARE", help="Changes below it do not matter.")
    ] = "3%",
    fail: Annotated[
        bool,
        typer.Option(
            "--fail",
            help="Exit code 1 if anything became worse by the threshold or more, 4 if anything that had a "
            "number before has none now, or nothing could be judged.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    store: StoreLocation = None,
) -> None:
    """Compare stored runs. Which rates and delays changed, and whether chance explains it.

    The spread of rounds, repeats or runs says what chance can do; with several sides that of all of them.
    Measures nothing and needs no root.
    """
    from weir.comparison import compare_several, several_text, text
    from weir.report.blocks import new_console
    from weir.results.comparison import SeveralComparisons

    smallest = share(threshold)
    asked = [before, *(after or [LATEST])]
    if len(asked) > len(several_text.LETTERS):
        most = len(several_text.LETTERS)
        raise CommandError(
            f"{len(asked)} sides: expected {most} at most; of runs of the same make one side, with commas"
            " between",
            USAGE,
        )
    sides = [[stored(name, store) for name in _names(side)] for side in asked]
    _distinct(sides)
    found = compare_several(sides[0], sides[1:], smallest)
    if not any(one.changes for one in found):
        raise CommandError(f"{' and '.join(asked)} have neither rates nor delays to compare", USAGE)
    several = len(found) > 1
    if as_json:
        document = SeveralComparisons(comparisons=found) if several else found[0]
        print(document.model_dump_json(indent=2))
    elif several:
        several_text.show(found, new_console())
    else:
        text.show(found[0], new_console())
    if fail:
        letters = several_text.LETTERS[1:]
        named = [
            (f"{letter}: {_name(change)}" if several else _name(change), change)
            for letter, one in zip(letters, found, strict=False)
            for change in one.changes
        ]
        _judge(named, smallest, threshold)


def _names(side: str) -> list[str]:
    names = [name.strip() for name in side.split(",")]
    if not all(names):
        raise CommandError(f"{side!r}: expected runs with commas between, such as 1a2b,3c4d", USAGE)
    return names


def share(text: str) -> float:
    """Of `--threshold`: "3%", "0.03"."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise CommandError(f"--threshold {text}: expected a share such as 3% or 0.03, below 100%", USAGE)
    return share


def _distinct(sides: list[list[Result]]) -> None:
    runs = [run.id for side in sides for run in side]
    twice = next((run for run in runs if runs.count(run) > 1), None)
    if twice is None:
        return
    on = [side for side in sides if twice in [run.id for run in side]]
    if len(on) == 1:
        raise CommandError(f"{twice} is named twice on one side: it would count twice", USAGE)
    where = "both" if len(sides) == 2 else "several"
    hint = "; absent, AFTER is the latest run" if runs[1:] == [twice] else ""
    raise CommandError(f"{twice} is on {where} sides: a run does not compare with itself{hint}", USAGE)


def _judge(changes: Sequence[tuple[str, Change]], smallest: float, threshold: str) -> None:
    """Ends the command if something became worse, or has no number any more: then nobody knows."""
    all_of = len(changes)
    worse = [
        f"{name} {change.change:+.1%}"
        for name, change in changes
        if change.outcome == "worse" and change.change is not None and abs(change.change) >= smallest
    ]
    if worse:
        failed(f"{len(worse)} of {all_of} became worse by {threshold} or more: {', '.join(worse)}")
    gone = [name for name, change in changes if change.before is not None and change.after is None]
    if gone:
        said = f"{len(gone)} of {all_of} had a number before and have none now: {', '.join(gone)}"
        print(f"weir: {printable(said)}", file=sys.stderr)
        raise typer.Exit(UNJUDGED)
    if all(change.outcome in {"not shown", "not compared"} for _, change in changes):
        what = "the only number could not" if all_of == 1 else f"none of {all_of} numbers could"
        print(f"weir: {what} be judged: the remarks say why", file=sys.stderr)
        raise typer.Exit(UNJUDGED)


def _name(change: Change) -> str:
    return f"{change.way} {change.chain} {change.frame} {change.what}"
