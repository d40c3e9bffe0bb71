# SPDX-License-Identifier: Apache-2.0
"""Changes of what is stored already: tags, and runs that are removed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sqlalchemy import delete, select

from weir.base.error import USAGE
from weir.store.database import Database, StoreError
from weir.store.tables import RunRow, TagRow

TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+@-]{0,63}")
AT_ONCE = 500
"""Runs of one statement."""


class TagError(StoreError):
    """It is no tag."""

    exit_code = USAGE


def check_tag(tag: str) -> str:
    """The tag itself. TagError."""
    if not TAG.fullmatch(tag):
        raise TagError(
            f"tag {tag!r}: expected letters, digits and ._:/+@-, 64 at most; the first one no sign"
        )
    return tag


def tag(store: Database, runs: Sequence[int], tags: Collection[str]) -> None:
    """Gives runs, by the numbers of their rows, tags; those that they have already stay."""
    with store.session(writing=True) as session:
        for some in _pieces(runs):
            known = session.execute(select(TagRow.run, TagRow.tag).where(TagRow.run.in_(some)))
            there = {(run, one) for run, one in known}
            wanted = {(run, check_tag(one)) for run in some for one in tags}
            session.add_all(TagRow(run=run, tag=one) for run, one in sorted(wanted - there))


def untag(store: Database, runs: Sequence[int], tags: Collection[str]) -> int:
    """Takes tags away; how many there were."""
    taken = 0
    with store.session(writing=True) as session:
        for some in _pieces(runs):
            found = session.execute(delete(TagRow).where(TagRow.run.in_(some), TagRow.tag.in_(tags)))
            taken += found.rowcount  # type: ignore[attr-defined]
    return taken


def remove(store: Database, runs: Sequence[int]) -> None:
    """Each in one piece: who measures meanwhile does not wait for all. Their room is used by later runs."""
    for run in runs:
        with store.session(writing=True) as session:
            session.execute(delete(RunRow).where(RunRow.number == run))


def _pieces(runs: Sequence[int]) -> list[Sequence[int]]:
    return [runs[start : start + AT_ONCE] for start in range(0, len(runs), AT_ONCE)]
