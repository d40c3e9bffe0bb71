# SPDX-License-Identifier: Apache-2.0
"""What the columns of lists and filters say, made anew from the documents, after the tables changed."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete, select
from sqlalchemy.orm import Session

from weir.results.document import NewerDocumentError
from weir.results.result import Case, Result, Setup
from weir.results.upgrades import upgraded
from weir.store.rows import figure_rows, rewrite_columns, rewrite_setup_columns, version_of
from weir.store.tables import CaseRow, FigureRow, RunRow, SetupRow, TrialFactRow, TrialRow

AT_ONCE = 1000
_UNREADABLE = (ValueError, TypeError)
"""What a damaged document raises, of which ValidationError is one, or its version."""


def rebuild(connection: Connection) -> None:
    """In the connection's transaction. What this Weir cannot read keeps its document and empty columns."""
    with Session(connection) as session:
        session.execute(delete(FigureRow))
        session.execute(delete(TrialFactRow))
        for run in session.scalars(select(RunRow)).all():
            try:
                version = run.version = version_of(run.document)
                rewrite_columns(run, Result.read(run.document))
            except (NewerDocumentError, *_UNREADABLE):
                continue
            _parts(session, run.number, version)
        _facts(session)
        session.flush()


def _parts(session: Session, run: int, version: int) -> None:
    for setup in session.scalars(select(SetupRow).where(SetupRow.run == run)):
        try:
            found = Setup.model_validate_json(upgraded(setup.document, "setup", version))
        except _UNREADABLE:
            continue
        rewrite_setup_columns(setup, found)
        for case in session.scalars(select(CaseRow).where(CaseRow.setup == setup.number, CaseRow.finished)):
            try:
                one = Case.model_validate_json(upgraded(case.document, "case", version))
            except _UNREADABLE:
                continue
            session.add_all(figure_rows(case.number, one))


def _facts(session: Session) -> None:
    """Of trials only these few fields are looked at, which no version named otherwise."""
    wanted = select(TrialRow.number, TrialRow.case, TrialRow.document).execution_options(yield_per=AT_ONCE)
    for some in session.execute(wanted).partitions():
        facts = []
        for number, case, document in some:
            try:
                trial = json.loads(document)
                facts.append(
                    TrialFactRow(
                        trial=number,
                        case=case,
                        purpose=trial["purpose"],
                        load_pps=trial["intended_load_pps"],
                        duration_s=trial["duration_s"],
                        loss_ratio=trial["loss_ratio"],
                        valid=trial["valid"],
                    )
                )
            except (ValueError, KeyError, TypeError):
                continue
        session.bulk_save_objects(facts)
