# SPDX-License-Identifier: Apache-2.0
"""`weir ls`: the runs, or trials, that are stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from weir.base.printable import printable
from weir.cli.selecting import NEWEST_MOST, Campaigns, Factors, Filters, Hosts, Labs, Since, Tags, Until
from weir.cli.stored import StoreLocation, nothing_stored

if TYPE_CHECKING:
    from weir.store.listing import RunSummary, TrialSummary


def ls(
    *,
    lab: Labs = None,
    factor: Factors = None,
    since: Since = None,
    until: Until = None,
    host: Hosts = None,
    campaign: Campaigns = None,
    tag: Tags = None,
    of_trials: Annotated[bool, typer.Option("--trials", help="List their trials, not the runs.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, max=NEWEST_MOST, help="No more than so many, the newest.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    store: StoreLocation = None,
) -> None:
    """List stored runs, newest first. What was measured, when, where, and whether it was finished.

    A campaign over several hosts is a run a host: each line has its id, which `--campaign` takes.
    Measures nothing and needs no root.
    """
    from weir.store import listing
    from weir.store.database import Database

    filters = Filters(lab, factor, since, until, host, tag, campaign)
    with Database(store, reading=True) as database:
        wanted = filters.selection()
        found = (listing.trials if of_trials else listing.runs)(database, wanted, limit)
        if as_json:
            print(_json(found))
        elif not found:
            print("no run fits these filters" if filters.any else nothing_stored(database), file=sys.stderr)
        else:
            print(printable(_aligned(_trial(one) if of_trials else _run(one) for one in found)))  # type: ignore[arg-type]


def _json(found: Sequence[RunSummary] | Sequence[TrialSummary]) -> str:
    kept = [{key: value for key, value in asdict(one).items() if key != "number"} for one in found]
    return json.dumps(kept, indent=2)


def _run(run: RunSummary) -> Sequence[str]:
    if run.unreadable is not None:
        return (run.id, run.lab, f"cannot be read: {run.unreadable}", *[""] * 6)
    return (
        run.id,
        run.lab,
        run.started_at,
        run.host or "-",
        "soak" if run.intervals else "quick" if run.quick else "full",
        run.contents(),
        run.campaign or "",
        ",".join(run.tags),
        run.ended,
    )


def _trial(trial: TrialSummary) -> Sequence[str]:
    return (
        trial.run,
        trial.chain,
        trial.variant or trial.technology,
        trial.frame,
        trial.purpose,
        f"{trial.load_pps:.0f} pps",
        f"{trial.duration_s:.3g} s",
        f"{trial.loss_ratio:.3%} lost",
        "" if trial.valid else "invalid",
    )


def _aligned(rows: Iterable[Sequence[str]]) -> str:
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
