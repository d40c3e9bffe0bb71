# SPDX-License-Identifier: Apache-2.0
"""`weir rm`: runs that nobody needs any more."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from weir.base.printable import printable
from weir.base.words import counted
from weir.cli.exits import FAILED, USAGE, CommandError
from weir.cli.selecting import Campaigns, Factors, Filters, Hosts, Labs, RunNames, Since, Tags, Until, chosen
from weir.cli.stored import StoreLocation

if TYPE_CHECKING:
    from weir.store.writer import Unfinished

SHOWN = 10


def rm(
    runs: RunNames = None,
    *,
    lab: Labs = None,
    factor: Factors = None,
    since: Since = None,
    until: Until = None,
    host: Hosts = None,
    campaign: Campaigns = None,
    tag: Tags = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    not_finished: Annotated[
        bool,
        typer.Option(
            "--unfinished", help="Also those that are not finished, of which nobody here knows their end."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say which runs it would be.")] = False,
    store: StoreLocation = None,
) -> None:
    """Remove stored runs, with all their trials. Reports that were written of them stay.

    A run that a program of this machine still measures stays, and so does one that another machine or
    container may still measure, unless --unfinished asks for it.
    """
    from weir.store import editing
    from weir.store.database import Database

    with Database(store, making=False) as database:
        wanted = chosen(database, runs, Filters(lab, factor, since, until, host, tag, campaign))
        stays = {run.id: _why_it_stays(run.unfinished, asked=not_finished) for run in wanted}
        found = [run for run in wanted if stays[run.id] is None]
        for run in wanted:
            if run not in found:
                print(printable(f"{run.id}  stays: {stays[run.id]}"))
        if not found:
            asked = any(run.unfinished == "unknown" for run in wanted) and not not_finished
            what = "end what measures first" + (", or say --unfinished" if asked else "")
            raise CommandError(f"nothing was removed: {what}", FAILED)
        for run in found[:SHOWN] if not dry_run else found:
            how = f" ({run.ended})" if run.ended else ""
            print(printable(f"{run.id}  {run.started_at}  {run.contents()}{how}"))
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
        done = editing.remove(database, [run.id for run in found])
        for one in done.gone_before:
            print(printable(f"{one}  somebody else has removed it meanwhile"))
        for one in done.measured:
            print(printable(f"{one}  stays: somebody has gone on with it meanwhile"))
        print(f"{counted(len(done.removed), 'run')} removed")


def _why_it_stays(unfinished: Unfinished | None, *, asked: bool) -> str | None:
    if unfinished == "measured":
        return "it is still measured"
    if unfinished == "unknown" and not asked:
        return "it is not finished, and may be measured elsewhere; --unfinished removes it"
    return None
