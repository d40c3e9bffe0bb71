# SPDX-License-Identifier: Apache-2.0
"""`weir compare`: what changed from one run, or several, to another."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import UNJUDGED, USAGE, CommandError, failed, printable
from weir.cli.stored import StoreLocation, stored

if TYPE_CHECKING:
    from weir.results.comparison import Change, Comparison
    from weir.results.result import Result

RUNS = "A run's id or its beginning, `latest`, or a result.json; of several of the same, with commas between."


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=RUNS)],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Likewise.")] = "latest",
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
    """Compare stored runs: which rates and delays changed, and whether chance explains it.

    The spread of rounds, repeats or runs says what chance can do. Measures nothing and needs no root.
    """
    from weir.comparison import compare as compared
    from weir.comparison import text
    from weir.report.blocks import new_console

    smallest = share(threshold)
    sides = [[stored(name, store) for name in _names(side)] for side in (before, after)]
    _distinct(sides)
    found = compared(sides[0], sides[1], smallest)
    if not found.changes:
        raise CommandError(f"{before} and {after} have neither rates nor delays to compare", USAGE)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        text.show(found, new_console())
    if fail:
        _judge(found, threshold)


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
    if twice is not None:
        raise CommandError(f"{twice} is named twice: a run does not compare with itself", USAGE)


def _judge(found: Comparison, threshold: str) -> None:
    """Ends the command if something became worse, or has no number any more: then nobody knows."""
    all_of = len(found.changes)
    worse = [
        f"{_name(change)} {change.change:+.1%}"
        for change in found.changes
        if change.outcome == "worse" and change.change is not None and abs(change.change) >= found.smallest
    ]
    if worse:
        failed(f"{len(worse)} of {all_of} became worse by {threshold} or more: {', '.join(worse)}")
    gone = [_name(change) for change in found.changes if change.before is not None and change.after is None]
    if gone:
        said = f"{len(gone)} of {all_of} had a number before and have none now: {', '.join(gone)}"
        print(f"weir: {printable(said)}", file=sys.stderr)
        raise typer.Exit(UNJUDGED)
    if all(change.outcome in {"not shown", "not compared"} for change in found.changes):
        print(f"weir: none of {all_of} numbers could be judged: the remarks say why", file=sys.stderr)
        raise typer.Exit(UNJUDGED)


def _name(change: Change) -> str:
    return f"{change.way} {change.chain} {change.frame} {change.what}"
