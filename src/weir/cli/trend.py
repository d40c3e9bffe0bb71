# SPDX-License-Identifier: Apache-2.0
"""`weir trend`: how a lab's rates and delays went from run to run, and where they changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weir.base.printable import printable
from weir.cli import completing
from weir.cli.compare import share
from weir.cli.exits import USAGE, CommandError, failed
from weir.cli.lab_name import name_in
from weir.cli.selecting import NEWEST_MOST, Factors, Filters, Hosts, Since, Tags, Until
from weir.cli.stored import StoreLocation

if TYPE_CHECKING:
    from weir.results.trend import Trend

LAST = 100


def trend(
    lab: Annotated[
        str,
        typer.Argument(
            metavar="LAB",
            help="Name of a lab, as `weir ls` shows it, or its file.",
            autocompletion=completing.labs,
        ),
    ],
    *,
    factor: Factors = None,
    since: Since = None,
    until: Until = None,
    host: Hosts = None,
    tag: Tags = None,
    last: Annotated[
        int,
        typer.Option(
            "--last",
            min=6,
            max=NEWEST_MOST,
            help="Look at no more than so many runs of each figure, the newest.",
        ),
    ] = LAST,
    threshold: Annotated[
        str, typer.Option("--threshold", metavar="SHARE", help="Steps below it do not matter.")
    ] = "1%",
    fail: Annotated[
        bool,
        typer.Option("--fail", help="Exit code 1 if any figure is on a worse level than before."),
    ] = False,
    form: Annotated[
        Literal["text", "json", "junit", "github"],
        typer.Option("--format", "-f", help="text, json, JUnit's XML, or annotations of GitHub's actions."),
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there; absent: print it.")
    ] = None,
    store: StoreLocation = None,
) -> None:
    """Show the history of a lab. Levels of each rate and delay with their noise, and since which run, and
    which revision of Weir, each level is there; regressions first.

    Measures nothing and needs no root.
    """
    from weir.comparison import trend_text
    from weir.store.files import check_file, write_file

    if as_json and form not in ("text", "json"):
        raise CommandError(f"--json and --format {form} contradict each other", USAGE)
    smallest = share(threshold)
    if output is not None:
        check_file(output, "--output")
    name = _name(lab)
    found = _found(name, Filters([name], factor, since, until, host, tag), last, smallest, store)
    if as_json or form == "json":
        text = found.model_dump_json(indent=2) + "\n"
    elif form == "text":
        text = printable(trend_text.plain(found))
    else:
        text = trend_text.junit(found) if form == "junit" else trend_text.github(found)
    if output is not None:
        write_file(output, text, "choose another place with --output")
    else:
        print(text, end="")
    worse = [trend_text.name(one) for one in found.series if one.regressed]
    if fail and worse:
        failed(f"{len(worse)} of {len(found.series)} are on a worse level than before: {', '.join(worse)}")


def _name(lab: str) -> str:
    """What the store knows it by. LabFileError of a file that is none."""
    return name_in(lab) if "/" in lab or lab.endswith((".yml", ".yaml")) else lab


def _found(lab: str, filters: Filters, last: int, smallest: float, place: str | None) -> Trend:
    from weir.comparison.trend import trend as of_figures
    from weir.store import history, listing
    from weir.store.database import Database

    with Database(place, reading=True) as store:
        known = history.figures(store, filters.selection(), last)
        if not known:
            names = sorted(one.name for one in listing.labs(store))
            others = ", ".join(one for one in names if one != lab)
            there = f"; it has runs of {others}" if others else ""
            there = ", only others of it; `weir ls` shows them" if lab in names else there
            raise CommandError(
                f"{store.name} has no finished run of {lab} with a rate or delay{there}", USAGE
            )
        specs = history.specs(store, (point for points in known.values() for point in points))
        finished = history.finished(store, filters.selection(), last)
    return of_figures(lab, known, smallest, specs, finished)
