# SPDX-License-Identifier: Apache-2.0
"""`weir export` and `weir import`: runs from one store to another, or to programs that read Parquet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from weir.base.printable import printable
from weir.base.words import counted
from weir.cli.exits import INTERRUPTED, USAGE, CommandError, failed
from weir.cli.selecting import Campaigns, Factors, Filters, Hosts, Labs, RunNames, Since, Tags, Until, chosen
from weir.cli.stored import StoreLocation

RUN_MIB = 64
FILE_MIB = 8192
"""As much as an export may hold, of any number of runs."""


def export(
    runs: RunNames = None,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A file for `weir import`.")
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(
            "--parquet",
            metavar="FOLDER",
            help="Parquet, in folders by lab and month; a run's own files are replaced.",
        ),
    ] = None,
    lab: Labs = None,
    factor: Factors = None,
    since: Since = None,
    until: Until = None,
    host: Hosts = None,
    campaign: Campaigns = None,
    tag: Tags = None,
    store: StoreLocation = None,
) -> None:
    """Write stored runs into a file for another store. They are whole in it; or as Parquet, which DuckDB,
    Spark and Ray Data read."""
    from weir.store.files import check_file, check_folder
    from weir.store.store import Store

    if (output is None) == (parquet is None):
        raise CommandError("expected either --output FILE or --parquet FOLDER", USAGE)
    if output is not None:
        check_file(output, "--output")
    if parquet is not None:
        check_folder(parquet, "--parquet")
    with Store(store, reading=True) as database:
        found = chosen(database, runs, Filters(lab, factor, since, until, host, tag, campaign))
        ids = [run.id for run in reversed(found)]
        if output is not None:
            from weir.store.exchange import write_export

            write_export(database, ids, [run.tags for run in reversed(found)], output)
        elif parquet is not None:
            from weir.store.lake import write_lake

            write_lake(database, list(reversed(found)), parquet)
    print(f"wrote {counted(len(ids), 'run')} to {output or parquet}")
    going_on = sum(run.unfinished is not None for run in found)
    if going_on:
        print(f"{counted(going_on, 'run')} of that not finished: what is stored of it up to now was written")


def import_runs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of `weir export`, or a result.json.")],
    *,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Give the imported runs this tag, or these."),
    ] = None,
    max_mib: Annotated[
        int,
        typer.Option("--max-mib", min=1, max=FILE_MIB, help="Refuse a run that is larger than that as JSON."),
    ] = RUN_MIB,
    store: StoreLocation = None,
) -> None:
    """Put exported runs into the store. Runs that it has already stay as they are there.

    The file is checked to its end before anything is stored.
    """
    from weir.store.exchange import read_import
    from weir.store.store import Store

    with Store(store) as database:
        done = read_import(database, file, tag or (), max_mib << 20)
    for run in done.there:
        print(printable(f"{run} is there already"))
    there = f", {len(done.there):,} there already" if done.there else ""
    imported = f"{counted(len(done.added), 'run')} imported{there}"
    if done.interrupted:
        print(f"weir: interrupted: {imported}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    print(imported)
    if done.unfinished:
        names = ", ".join(done.unfinished)
        failed(
            f"{names}: not finished in the store, which keeps its own, and whole in {file}; to take that: "
            f"`weir rm {done.unfinished[0]}`, then import again"
        )


import_runs.__name__ = "import"  # a word of Python's, which no function can be called in the source
