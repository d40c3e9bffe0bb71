# SPDX-License-Identifier: Apache-2.0
"""Changes of what is stored already: tags, and runs that are removed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, select

from weir.base.error import USAGE
from weir.store.connection import StoreError
from weir.store.database import Database
from weir.store.tables import RunRow, TagRow
from weir.store.writer import state_of

TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+@-]{0,63}")
AT_ONCE = 500
"""Runs of one statement."""


@dataclass
class Removed:
    """What became of runs that were to be removed, by their ids."""

    removed: list[str] = field(default_factory=list)
    gone_before: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)


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


def tag(store: Database, runs: Sequence[str], tags: Collection[str]) -> int:
    """Gives runs, by their ids, tags; those that they have already stay. How many runs are still there."""
    there = 0
    with store.session(writing=True) as session:
        for some in _pieces(runs):
            numbers = session.scalars(select(RunRow.number).where(RunRow.id.in_(some))).all()
            there += len(numbers)
            known = session.execute(select(TagRow.run, TagRow.tag).where(TagRow.run.in_(numbers)))
            had = {(run, one) for run, one in known}
            wanted = {(run, check_tag(one)) for run in numbers for one in tags}
            session.add_all(TagRow(run=run, tag=one) for run, one in sorted(wanted - had))
    return there


def untag(store: Database, runs: Sequence[str], tags: Collection[str]) -> int:
    """Takes tags away; how many there were."""
    taken = 0
    with store.session(writing=True) as session:
        for some in _pieces(runs):
            numbers = select(RunRow.number).where(RunRow.id.in_(some)).scalar_subquery()
            found = session.execute(delete(TagRow).where(TagRow.run.in_(numbers), TagRow.tag.in_(tags)))
            taken += found.rowcount  # type: ignore[attr-defined]
    return taken


def remove(store: Database, runs: Sequence[str]) -> Removed:
    """By their ids; each in one piece: who measures meanwhile does not wait for all. Their room is used by
    later runs. What is measured by now stays: somebody may have gone on with it since it was chosen."""
    done = Removed()
    for run in runs:
        with store.session(writing=True) as session:
            row = session.scalar(select(RunRow).where(RunRow.id == run))
            if row is None:
                done.gone_before.append(run)
            elif state_of(row) == "measured":
                done.measured.append(run)
            else:
                session.execute(delete(RunRow).where(RunRow.number == row.number))
                done.removed.append(run)
    return done


def _pieces(runs: Sequence[str]) -> list[Sequence[str]]:
    return [runs[start : start + AT_ONCE] for start in range(0, len(runs), AT_ONCE)]
