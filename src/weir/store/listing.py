# SPDX-License-Identifier: Apache-2.0
"""Lists of what a store has, from columns alone: 100,000 trials take no longer than reading one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from weir.base.words import counted
from weir.results.upgrades import RESULT_VERSION
from weir.store.database import Database
from weir.store.rows import once
from weir.store.selection import Selection
from weir.store.tables import NEWEST_FIRST, CaseRow, IntervalRow, RunRow, SetupRow, TagRow, TrialFactRow
from weir.store.writer import Unfinished, state_of

ALL = Selection()


@dataclass(frozen=True)
class RunSummary:
    """One run in a list."""

    number: int
    """Of its row."""
    id: str
    lab: str
    started_at: str
    """RFC 3339, UTC; empty where it cannot be read."""
    finished_at: str | None
    quick: bool
    interrupted: bool
    left_out_points: int
    """Cases, each in one round, that were planned and that it ended without."""
    host: str
    """Empty in results of older versions."""
    campaign: str | None
    """Over several hosts, of which this is one's part; `left_out_points` is of all of them. None: of none."""
    weir: str
    """Version that measured."""
    cases: int
    trials: int
    intervals: int
    """Of a soak; 0 of every other run."""
    tags: tuple[str, ...] = ()
    unreadable: str | None = None
    """Why this Weir cannot read the run."""
    unfinished: Unfinished | None = None
    """What becomes of one that has not ended; None: it has."""

    def contents(self) -> str:
        """ "2 cases, 6 trials"; of a run whose trials are no rows of their own, as those of connections, the
        cases alone."""
        parts = [counted(self.cases, "case")]
        if self.intervals:
            parts.append(counted(self.intervals, "interval"))
        elif self.trials:
            parts.append(counted(self.trials, "trial"))
        return ", ".join(parts)

    @property
    def ended(self) -> str:
        """How, in words, where it was not as it should; else nothing."""
        if not self.finished_at or not self.left_out_points or self.interrupted:
            return ended(self.unfinished, interrupted=self.interrupted)
        points = counted(self.left_out_points, "point")
        if self.campaign is not None:
            return f"{points} of its campaign left out"
        return f"{points} left out"  # with its budget, or since a port was gone: the report says which


_UNFINISHED: dict[Unfinished, str] = {
    "measured": "still measured",
    "killed": "broke off",
    "unknown": "not finished: still measured, or broke off",
}


def ended(unfinished: Unfinished | None, *, interrupted: bool) -> str:
    """In words; nothing of a run that came to its end."""
    if interrupted:
        return "interrupted"
    return _UNFINISHED[unfinished] if unfinished is not None else ""


@dataclass(frozen=True)
class TrialSummary:
    """One trial in a list."""

    run: str
    technology: str
    variant: str | None
    chain: str
    frame: str
    purpose: str
    load_pps: float
    """Intended, both directions together."""
    duration_s: float
    loss_ratio: float
    valid: bool


@dataclass(frozen=True)
class LabSummary:
    """One lab in a list."""

    name: str
    runs: int
    newest: str
    """Its newest run's id."""
    document: str
    """That run's, without setups."""
    started_at: str
    """When that began; RFC 3339, UTC; empty where it cannot be read."""
    ended: str
    """How that has, in words, where it was not as it should; empty: it has come to its end."""
    host: str
    campaign: str | None
    """Over several hosts, that its newest run is of; None: of none."""
    parts: int
    """Runs of that campaign, one a host; else 0."""


def labs(store: Database) -> list[LabSummary]:
    """Those whose runs are newest first."""
    place = func.row_number().over(partition_by=RunRow.lab, order_by=NEWEST_FIRST)
    runs = func.count().over(partition_by=RunRow.lab)
    grouped = select(RunRow.number, runs.label("runs"), place.label("place")).subquery()
    other = aliased(RunRow)
    parts = select(func.count()).select_from(other).where(other.campaign == RunRow.campaign)
    columns = (RunRow, grouped.c.runs, parts.scalar_subquery())
    wanted = select(*columns).join(grouped, grouped.c.number == RunRow.number).where(grouped.c.place == 1)
    with store.session() as session:
        return [
            LabSummary(
                name=row.lab,
                runs=count,
                newest=row.id,
                document=row.document,
                started_at=rfc3339(row.started_s) or "",
                ended=ended(state_of(row), interrupted=bool(row.interrupted)),
                host=row.host or "",
                campaign=row.campaign,
                parts=of_campaign,
            )
            for row, count, of_campaign in session.execute(wanted.order_by(*NEWEST_FIRST))
        ]


def runs(
    store: Database, wanted: Selection = ALL, limit: int | None = None, skipped: int = 0
) -> list[RunSummary]:
    """Newest first. `skipped`: so many of the newest are left out."""
    with store.session() as session:
        rows = _rows(session, wanted, limit, skipped)
        tags: dict[int, list[str]] = {}
        of_tags = select(TagRow.run, TagRow.tag).join(RunRow, RunRow.number == TagRow.run)
        for run, tag in session.execute(of_tags.where(wanted.of_runs()).order_by(TagRow.tag)):
            tags.setdefault(run, []).append(tag)
        listed = wanted.of_runs()
        if limit is not None:
            listed = and_(listed, RunRow.number.in_([row.number for row in rows]))
        counts = (
            _counts(session, select(SetupRow.run, func.count(CaseRow.number)), and_(listed, once())),
            _counts(session, select(SetupRow.run, func.count(TrialFactRow.trial)), listed, TrialFactRow),
            _counts(session, select(SetupRow.run, func.count(IntervalRow.number)), listed, IntervalRow),
        )
        return [
            _summary(row, [of.get(row.number, 0) for of in counts], tags.get(row.number, ())) for row in rows
        ]


def _counts(session: Session, counted: Select[int, int], listed: Any, of: Any = None) -> dict[int, int]:
    """By the number of a run: of its cases, or of what these have."""
    joined = counted.join(RunRow, RunRow.number == SetupRow.run)
    joined = joined.join(CaseRow, CaseRow.setup == SetupRow.number)
    if of is not None:
        joined = joined.join(of, of.case == CaseRow.number)
    return dict(session.execute(joined.where(listed).group_by(SetupRow.run)).all())


def trials(store: Database, wanted: Selection = ALL, limit: int | None = None) -> list[TrialSummary]:
    """Of the newest run first; only of cases that have the factors."""
    with store.session() as session:
        if wanted.has_keys:
            wanted = wanted.among([row.number for row in _rows(session, wanted, None)])
        statement = (
            select(
                RunRow.id,
                SetupRow.technology,
                SetupRow.variant,
                SetupRow.chain,
                CaseRow.frame,
                TrialFactRow.purpose,
                TrialFactRow.load_pps,
                TrialFactRow.duration_s,
                TrialFactRow.loss_ratio,
                TrialFactRow.valid,
            )
            .join(SetupRow, SetupRow.run == RunRow.number)
            .join(CaseRow, CaseRow.setup == SetupRow.number)
            .join(TrialFactRow, TrialFactRow.case == CaseRow.number)
            .where(wanted.of_runs(), wanted.of_cases())
            .order_by(*NEWEST_FIRST, TrialFactRow.trial)
            .limit(limit)
        )
        rows: Sequence[Any] = session.execute(statement).all()
        return [TrialSummary(*row) for row in rows]


def _rows(session: Session, wanted: Selection, limit: int | None, skipped: int = 0) -> Sequence[Any]:
    columns = (
        RunRow.number,
        RunRow.id,
        RunRow.lab,
        RunRow.version,
        RunRow.started_s,
        RunRow.finished_s,
        RunRow.quick,
        RunRow.interrupted,
        RunRow.left_out_points,
        RunRow.host,
        RunRow.campaign,
        RunRow.weir,
        RunRow.writer,
    )
    newest = select(*columns).where(wanted.of_runs()).order_by(*NEWEST_FIRST)
    if not wanted.has_keys:
        return session.execute(newest.limit(limit).offset(skipped)).all()
    found = session.execute(newest.add_columns(RunRow.document)).all()
    fitting = [row for row in found if wanted.fits(row.document)][skipped:]
    return fitting[:limit]


def _summary(row: Any, counted: Sequence[int], tags: Sequence[str]) -> RunSummary:
    unreadable = None
    if row.version is None:
        unreadable = "its document is damaged"
    elif row.version > RESULT_VERSION:
        unreadable = f"a newer Weir wrote it: version {row.version}; this one reads up to {RESULT_VERSION}"
    return RunSummary(
        number=row.number,
        id=row.id,
        lab=row.lab,
        started_at=rfc3339(row.started_s) or "",
        finished_at=rfc3339(row.finished_s),
        quick=bool(row.quick),
        interrupted=bool(row.interrupted),
        left_out_points=row.left_out_points or 0,
        host=row.host or "",
        campaign=row.campaign,
        weir=row.weir or "",
        cases=counted[0],
        trials=counted[1],
        intervals=counted[2],
        tags=tuple(tags),
        unreadable=unreadable,
        unfinished=state_of(row),
    )


def rfc3339(epoch_s: float | None) -> str | None:
    """In UTC. None of what is no time, as somebody may have stored it."""
    if epoch_s is None:
        return None
    try:
        return f"{datetime.fromtimestamp(epoch_s, UTC):%FT%TZ}".rjust(len("YYYY-MM-DDTHH:MM:SSZ"), "0")
    except (ValueError, OverflowError, OSError):
        return None
