# SPDX-License-Identifier: Apache-2.0
"""What a shell offers when Tab is pressed: runs and labs of the store that the command reads. Of a store that
cannot be read it offers nothing, and says nothing: files are offered then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.store.database import Database

Offered = list[tuple[str, str]]
"""Each with what shells that can do so show beside it."""
RUNS_MOST = 50
"""The newest."""


def runs(ctx: typer.Context, incomplete: str) -> Offered:
    """Ids, newest first; after those of several runs with commas between, the next one."""
    whole, comma, begun = incomplete.rpartition(",")
    found = _read(ctx, _runs)
    latest = [("latest", "the newest")] if found and not whole else []
    fitting = [one for one in [*found, *latest] if one[0].startswith(begun)]
    return [(f"{whole}{comma}{name}", about) for name, about in fitting]


def labs(ctx: typer.Context, incomplete: str) -> Offered:
    """Names of those that have runs."""
    return [one for one in _read(ctx, _labs) if one[0].startswith(incomplete)]


def _runs(store: Database) -> Offered:
    from weir.store import listing

    newest = listing.runs(store, limit=RUNS_MOST)
    return [(one.id, ", ".join(part for part in (one.started_at, one.ended) if part)) for one in newest]


def _labs(store: Database) -> Offered:
    from weir.base.words import counted
    from weir.store import listing

    return [(one.name, counted(one.runs, "run")) for one in listing.labs(store)]


def _read(ctx: typer.Context, read: Callable[[Database], Offered]) -> Sequence[tuple[str, str]]:
    from weir.store.connection import StoreError
    from weir.store.database import Database

    try:
        with Database(ctx.params.get("store"), reading=True, changing=False) as store:
            return read(store)
    except (StoreError, OSError):
        return []
