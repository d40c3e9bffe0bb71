# SPDX-License-Identifier: Apache-2.0
"""`weir tag`: the user's own words for runs, to find them by."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.base.words import counted
from weir.cli.selecting import Campaigns, Factors, Filters, Hosts, Labs, RunNames, Since, Tags, Until, chosen
from weir.cli.stored import StoreLocation


def tag(
    words: Annotated[str, typer.Argument(metavar="TAG", help="A tag; of several, with commas between.")],
    runs: RunNames = None,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take the tags away.")] = False,
    lab: Labs = None,
    factor: Factors = None,
    since: Since = None,
    until: Until = None,
    host: Hosts = None,
    campaign: Campaigns = None,
    tagged: Tags = None,
    store: StoreLocation = None,
) -> None:
    """Give stored runs tags to find them by. `weir ls --tag` and other commands do.

    `weir tag baseline latest`; `weir tag nightly --lab switching --since 7d`.
    """
    from weir.store import editing
    from weir.store.database import Database

    tags = [editing.check_tag(word.strip()) for word in words.split(",")]
    with Database(store, making=False) as database:
        found = chosen(database, runs, Filters(lab, factor, since, until, host, tagged, campaign))
        ids = [run.id for run in found]
        if remove:
            taken = counted(editing.untag(database, ids, tags), "tag")
            print(f"{taken} taken away, of {counted(len(found), 'run')}")
        else:
            there = editing.tag(database, ids, tags)
            have = "has" if there == 1 else "have"
            print(f"{counted(there, 'run')} {have} {', '.join(tags)}")
