# SPDX-License-Identifier: Apache-2.0
"""`weir rm`: runs that nobody needs any more."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from weir.base.words import counted
from weir.cli.exits import USAGE, CommandError, printable
from weir.cli.ls import ended
from weir.cli.selecting import Factors, Filters, Hosts, Labs, RunNames, Since, Tags, Until, chosen
from weir.cli.stored import StoreLocation

SHOWN = 10


def rm(
    runs: RunNames = None,
    *,
    lab: Labs = None,
    factor: Factors = None,
    since: Since = None,
    until: Until = None,
    host: Hosts = None,
    tag: Tags = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say which runs it would be.")] = False,
    store: StoreLocation = None,
) -> None:
    """Remove stored runs, with all their trials. Reports that were written of them stay.

    A run that is still measured cannot be told from one that was killed: it says so of either.
    """
    from weir.store import editing
    from weir.store.database import Database

    with Database(store) as database:
        found = chosen(database, runs, Filters(lab, factor, since, until, host, tag))
        for run in found[:SHOWN] if not dry_run else found:
            how = f" ({ended(run)})" if ended(run) else ""
            print(printable(f"{run.id}  {run.started_at}  {counted(run.trials, 'trial')}{how}"))
        if dry_run:
            return
        if len(found) > SHOWN:
            print(f"and {len(found) - SHOWN} more")
        if not yes:
            if not sys.stdin.isatty():
                raise CommandError(
                    "nothing was removed: nobody is there to ask; --yes removes without", USAGE
                )
            what = "this run" if len(found) == 1 else f"these {len(found)} runs"
            typer.confirm(f"Remove {what} for good?", abort=True)
        editing.remove(database, [run.number for run in found])
        print(f"{counted(len(found), 'run')} removed")
