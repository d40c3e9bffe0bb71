# SPDX-License-Identifier: Apache-2.0
"""Results as rows of the store's tables, and rows as results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, aliased

from weir.results.figures import figures
from weir.results.result import Case, Result, Setup, Trial
from weir.results.rounds import UNFINISHED
from weir.results.soak import SoakInterval
from weir.results.upgrades import parsed, upgraded
from weir.store.tables import (
    CaseRow,
    FigureRow,
    IntervalRow,
    RunRow,
    SetupRow,
    TagRow,
    TrialFactRow,
    TrialRow,
)
from weir.store.writer import Writer


def add_run(session: Session, result: Result, tags: Iterable[str]) -> None:
    """A whole run; it is the caller's to commit. The store has none of that id."""
    run = run_row(result)
    session.add(run)
    session.flush()
    session.add_all([TagRow(run=run.number, tag=tag) for tag in tags])
    for setup in result.setups:
        within = setup_row(run.number, setup)
        session.add(within)
        session.flush()
        for case in setup.cases:
            finished = case.problem != UNFINISHED
            row = CaseRow(
                setup=within.number, frame=case.frame, finished=finished, document=case_document(case)
            )
            session.add(row)
            session.flush()
            add_parts(session, row.number, case)
            if case.soak is not None:
                session.add_all([interval_row(row.number, one) for one in case.soak.intervals])


def run_row(result: Result, writer: Writer | None = None) -> RunRow:
    """Of a run that the store does not have. `writer`: who measures it."""
    row = RunRow(id=result.id, lab=result.lab, writer=writer.text() if writer is not None else None)
    rewrite_run(row, result)
    return row


def rewrite_run(row: RunRow, result: Result) -> None:
    """The document, and what repeats it."""
    row.document = result.model_copy(update={"setups": []}).model_dump_json()
    row.version = result.version
    rewrite_columns(row, result)


def rewrite_columns(row: RunRow, result: Result) -> None:
    """What repeats the document, but for its version."""
    row.started_s, row.finished_s = epoch_s(result.started_at), epoch_s(result.finished_at)
    row.quick, row.interrupted = result.quick, result.interrupted
    campaign = result.campaign
    row.left_out_points = campaign.left_out_points if campaign is not None else 0
    row.campaign = campaign.shared.id if campaign is not None and campaign.shared is not None else None
    row.host, row.weir = result.fingerprint.host, result.fingerprint.versions.get("weir", result.weir)
    row.spec_sha256 = result.spec_sha256


def epoch_s(moment: str | None) -> float | None:
    """Of a time in RFC 3339, since 1970; None where it is none, or in UTC in no year from 1 to 9999."""
    try:
        found = datetime.fromisoformat(moment or "")
        return (found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def setup_row(run: int, setup: Setup) -> SetupRow:
    """Of a run's number."""
    row = SetupRow(run=run)
    rewrite_setup(row, setup)
    return row


def rewrite_setup(row: SetupRow, setup: Setup) -> None:
    """The document, and what repeats it."""
    row.document = setup.model_copy(update={"cases": []}).model_dump_json()
    rewrite_setup_columns(row, setup)


def rewrite_setup_columns(row: SetupRow, setup: Setup) -> None:
    """What repeats the document."""
    row.technology, row.variant, row.chain = setup.technology, setup.variant, setup.chain


def add_parts(session: Session, number: int, case: Case) -> None:
    """Trials, curve and figures of the case of that number, which has none yet."""
    add_trials(session, number, case.trials, in_curve=False)
    add_trials(session, number, case.curve, in_curve=True)
    session.add_all(figure_rows(number, case))


def once() -> ColumnElement[bool]:
    """The condition on CaseRow that leaves out a case's next round while that is measured: what the rounds
    before found is the case until then."""
    other = aliased(CaseRow)
    before = select(other.number).where(
        other.setup == CaseRow.setup, other.frame == CaseRow.frame, other.finished.is_(True)
    )
    return or_(CaseRow.finished.is_(True), ~before.exists())


def figure_rows(case: int, of: Case) -> Iterator[FigureRow]:
    """What a case found."""
    return (
        FigureRow(
            case=case,
            what=figure.what,
            unit=figure.unit,
            samples=json.dumps(figure.samples),
            tester_bound=figure.tester_bound,
            lab_bound=figure.lab_bound,
            worse_state=figure.worse_state,
            disturbed=figure.disturbed,
        )
        for figure in figures(of)
        if figure.samples
    )


def add_trials(session: Session, case: int, trials: Sequence[Trial], *, in_curve: bool) -> None:
    rows = [TrialRow(case=case, in_curve=in_curve, document=trial.model_dump_json()) for trial in trials]
    session.add_all(rows)
    session.flush()
    session.add_all(
        TrialFactRow(
            trial=row.number,
            case=case,
            purpose=trial.purpose,
            load_pps=trial.intended_load_pps,
            duration_s=trial.duration_s,
            loss_ratio=trial.loss_ratio,
            valid=trial.valid,
        )
        for row, trial in zip(rows, trials, strict=True)
    )


def interval_row(case: int, interval: SoakInterval) -> IntervalRow:
    return IntervalRow(case=case, document=interval.model_dump_json())


def case_document(case: Case) -> str:
    bare = case.model_copy(update={"trials": [], "curve": []})
    if case.soak is not None:
        bare.soak = case.soak.model_copy(update={"intervals": []})
    return bare.model_dump_json()


def version_of(run: str) -> int:
    """In which version a run and its parts were written."""
    return int(parsed(run).get("version", 1))


def modernise(session: Session, run: RunRow) -> None:
    """All of a run in the present version: what is added to it is."""
    version = version_of(run.document)
    run.document = upgraded(run.document, "result", version)
    run.version = version_of(run.document)
    for setup in session.scalars(select(SetupRow).where(SetupRow.run == run.number)):
        setup.document = upgraded(setup.document, "setup", version)
        for case in session.scalars(select(CaseRow).where(CaseRow.setup == setup.number)):
            case.document = upgraded(case.document, "case", version)
            for trial in session.scalars(select(TrialRow).where(TrialRow.case == case.number)):
                trial.document = upgraded(trial.document, "trial", version)
            for interval in session.scalars(select(IntervalRow).where(IntervalRow.case == case.number)):
                interval.document = upgraded(interval.document, "interval", version)


def setup_of(session: Session, row: SetupRow, version: int, *, trials: bool = True) -> Setup:
    setup = Setup.model_validate_json(upgraded(row.document, "setup", version))
    cases = session.scalars(
        select(CaseRow).where(CaseRow.setup == row.number, once()).order_by(CaseRow.number)
    )
    setup.cases = [case_of(session, case, version, trials=trials) for case in cases]
    return setup


def intervals_of(session: Session, case: CaseRow, version: int) -> list[SoakInterval]:
    rows = session.scalars(
        select(IntervalRow).where(IntervalRow.case == case.number).order_by(IntervalRow.number)
    )
    return [SoakInterval.model_validate_json(upgraded(one.document, "interval", version)) for one in rows]


def case_of(session: Session, row: CaseRow, version: int, *, trials: bool = True) -> Case:
    case = Case.model_validate_json(upgraded(row.document, "case", version))
    if case.soak is not None:
        case.soak.intervals = intervals_of(session, row, version)
    if not trials:
        return case
    for trial in session.scalars(
        select(TrialRow).where(TrialRow.case == row.number).order_by(TrialRow.number)
    ):
        (case.curve if trial.in_curve else case.trials).append(
            Trial.model_validate_json(upgraded(trial.document, "trial", version))
        )
    return case
