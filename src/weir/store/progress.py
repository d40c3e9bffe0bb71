# SPDX-License-Identifier: Apache-2.0
"""How far a run is that is still measured, from columns alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from weir.store.database import Database
from weir.store.listing import TrialSummary
from weir.store.tables import NEWEST_FIRST, CaseRow, RunRow, SetupRow, TrialFactRow

NEWEST = 12
LIKE_IT = 10
"""Newest runs of the lab that tell how long it takes."""


@dataclass(frozen=True)
class Progress:
    """Of one run, now."""

    finished: bool
    """Or interrupted: nothing comes any more."""
    trials: int
    newest: Sequence[TrialSummary]
    """The last one first."""
    without_loss_pps: float | None
    """The highest load of the newest trial's case that lost nothing, of valid trials."""
    with_loss_pps: float | None
    """The lowest load above that which did."""
    usual_s: float | None
    """What finished runs of the lab took on that host, in the median."""


def progress(store: Database, run: int) -> Progress:
    """Of the run of that row. StoreError."""
    of_run = (
        select(TrialFactRow, CaseRow, SetupRow)
        .join(CaseRow, TrialFactRow.case == CaseRow.number)
        .join(SetupRow, CaseRow.setup == SetupRow.number)
        .where(SetupRow.run == run)
    )
    with store.session() as session:
        row = session.get(RunRow, run)
        if row is None:  # removed meanwhile
            return Progress(True, 0, (), None, None, None)
        count = session.scalar(select(func.count()).select_from(of_run.subquery())) or 0
        newest = session.execute(of_run.order_by(TrialFactRow.trial.desc()).limit(NEWEST)).all()
        low, high = _bounds(session, newest[0][0].case) if newest else (None, None)
        return Progress(
            finished=row.finished_s is not None or bool(row.interrupted),
            trials=count,
            newest=[
                TrialSummary(
                    run=row.id,
                    technology=setup.technology or "",
                    variant=setup.variant,
                    chain=setup.chain or "",
                    frame=case.frame,
                    purpose=fact.purpose,
                    load_pps=fact.load_pps,
                    duration_s=fact.duration_s,
                    loss_ratio=fact.loss_ratio,
                    valid=fact.valid,
                )
                for fact, case, setup in newest
            ],
            without_loss_pps=low,
            with_loss_pps=high,
            usual_s=_usual_s(session, row),
        )


def _bounds(session: Session, case: int) -> tuple[float | None, float | None]:
    wanted = select(TrialFactRow.load_pps, TrialFactRow.loss_ratio).where(
        TrialFactRow.case == case, TrialFactRow.valid.is_(True), TrialFactRow.purpose == "search"
    )
    found = session.execute(wanted).all()
    low = max((load for load, loss in found if loss == 0), default=None)
    high = min((load for load, loss in found if loss > 0 and load > (low or 0.0)), default=None)
    return low, high


def _usual_s(session: Session, of: RunRow) -> float | None:
    took = select(RunRow.finished_s - RunRow.started_s).where(
        RunRow.lab == of.lab,
        RunRow.quick == of.quick,
        RunRow.host == of.host,
        RunRow.interrupted.is_(False),
        RunRow.finished_s > RunRow.started_s,
    )
    found = session.scalars(took.order_by(*NEWEST_FIRST).limit(LIKE_IT))
    seconds = [one for one in found if one is not None]
    return statistics.median(seconds) if seconds else None
