# SPDX-License-Identifier: Apache-2.0
"""The figures of a lab's finished runs, oldest first, from columns alone."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from weir.results.figures import Unit
from weir.store.database import Database
from weir.store.listing import rfc3339
from weir.store.selection import Selection
from weir.store.tables import NEWEST_FIRST, CaseRow, FigureRow, RunRow, SetupRow

Key = tuple[str, str, str, str, Unit, str, bool]
"""Chain, technology or variant, frame, what, unit, host, whether it was a quick run."""


@dataclass(frozen=True)
class Point:
    """What one run found."""

    run: str
    started_at: str
    """RFC 3339, UTC."""
    weir: str
    value: float
    """Median of its samples."""
    comparable: bool
    """Neither of a worse state of the machine, nor bounded by the tester, nor zero."""
    tester_bound: bool
    lab_bound: bool
    worse_state: bool
    disturbed: bool
    """Others had cores for much of the time that it rests on."""
    spec_sha256: str
    """Hash of the lab, resolved; another one after its keys changed."""
    campaign: str | None
    """Over several hosts, that the run is one host's part of."""

    @property
    def at_least(self) -> bool:
        """Whether it may have been more: nothing above it was tried."""
        return self.tester_bound or self.lab_bound


_FINISHED = and_(RunRow.finished_s.is_not(None), RunRow.interrupted.is_(False), RunRow.started_s.is_not(None))


def state(store: Database) -> tuple[int, int, float, float]:
    """Another one after a finished run came or went: until then histories are as they were."""
    newest = func.max(RunRow.number), func.max(RunRow.finished_s)
    # The number of a run that was removed is given out again.
    wanted = select(func.count(), *newest, func.sum(RunRow.started_s + RunRow.finished_s)).where(_FINISHED)
    with store.session() as session:
        count, number, finished_s, all_s = session.execute(wanted).one()
        return count, number or 0, finished_s or 0.0, all_s or 0.0


def newest(store: Database, lab: str, most: int) -> list[int]:
    """Numbers of no more than that many finished runs of a lab, the newest first."""
    wanted = select(RunRow.number).where(_FINISHED, RunRow.lab == lab)
    with store.session() as session:
        found = session.scalars(wanted.order_by(*NEWEST_FIRST).limit(most))
        return list(found)


def figures(store: Database, wanted: Selection, last: int) -> dict[Key, Sequence[Point]]:
    """Of each figure the points of no more than that many runs, the newest."""
    statement = (
        select(
            SetupRow.chain,
            SetupRow.variant,
            SetupRow.technology,
            CaseRow.frame,
            FigureRow.what,
            FigureRow.unit,
            RunRow.host,
            RunRow.quick,
            RunRow.id,
            RunRow.started_s,
            RunRow.weir,
            FigureRow.samples,
            FigureRow.tester_bound,
            FigureRow.lab_bound,
            FigureRow.worse_state,
            FigureRow.disturbed,
            RunRow.number,
            RunRow.campaign,
            RunRow.spec_sha256,
        )
        .join(SetupRow, SetupRow.run == RunRow.number)
        .join(CaseRow, CaseRow.setup == SetupRow.number)
        .join(FigureRow, FigureRow.case == CaseRow.number)
        .where(wanted.of_cases())
        .where(_FINISHED)
        .order_by(RunRow.started_s, RunRow.number, SetupRow.number, FigureRow.number)
    )
    found: dict[Key, list[Point]] = {}
    with store.session() as session:
        for row in session.execute(statement.where(_fitting(session, wanted).of_runs())):
            key: Key = (
                row.chain,
                row.variant or row.technology,
                row.frame,
                row.what,
                row.unit,
                row.host or "",
                row.quick,
            )
            value = statistics.median(json.loads(row.samples))
            comparable = not (row.tester_bound or row.worse_state) and value > 0
            began_at = rfc3339(row.started_s) or ""
            flags = row.tester_bound, row.lab_bound, row.worse_state, row.disturbed
            of = row.spec_sha256 or "", row.campaign
            point = Point(row.id, began_at, row.weir or "", value, comparable, *flags, *of)
            found.setdefault(key, []).append(point)
    return {key: points[-last:] for key, points in found.items()}


def cases(store: Database, run: str) -> list[tuple[str, str, str]]:
    """Chain, technology or variant, and frame of a run's finished cases, in the order of the lab, whatever
    they found."""
    wanted = (
        select(SetupRow.chain, SetupRow.variant, SetupRow.technology, CaseRow.frame)
        .join(RunRow, RunRow.number == SetupRow.run)
        .join(CaseRow, CaseRow.setup == SetupRow.number)
        .where(RunRow.id == run, CaseRow.finished.is_(True))
        .order_by(SetupRow.number, CaseRow.number)
    )
    with store.session() as session:
        return [(row.chain, row.variant or row.technology, row.frame) for row in session.execute(wanted)]


def finished(store: Database, wanted: Selection, last: int) -> list[str]:
    """Ids of no more than that many finished runs, the newest, whatever they found."""
    with store.session() as session:
        of_runs = _fitting(session, wanted).of_runs()
        return list(
            session.scalars(select(RunRow.id).where(of_runs, _FINISHED).order_by(*NEWEST_FIRST).limit(last))
        )


def _fitting(session: Session, wanted: Selection) -> Selection:
    """The same, with what only the documents of the runs can tell looked up."""
    if not wanted.has_keys:
        return wanted
    numbers = session.execute(select(RunRow.number, RunRow.document).where(wanted.of_runs()))
    return wanted.among([number for number, document in numbers if wanted.fits(document)])


def specs(store: Database, points: Iterable[Point]) -> Mapping[str, Mapping[str, Any]]:
    """The labs that they are of, by their hashes; none of those that cannot be read."""
    runs = {point.spec_sha256: point.run for point in points}
    wanted = select(RunRow.spec_sha256, RunRow.document).where(RunRow.id.in_(runs.values()))
    found: dict[str, Mapping[str, Any]] = {}
    with store.session() as session:
        for digest, document in session.execute(wanted):
            with suppress(ValueError, KeyError, TypeError):
                found[digest or ""] = dict(json.loads(document)["spec"])
    return found
