# SPDX-License-Identifier: Apache-2.0
"""Cases that a store knows before they have ended: soaks, interval by interval, and migrations."""

from __future__ import annotations

from sqlalchemy import select

from weir.results.result import Case, Result
from weir.results.soak import SoakInterval
from weir.store.connection import StoreError
from weir.store.rows import case_document, case_of, interval_row, intervals_of, modernise, version_of
from weir.store.store import Store
from weir.store.tables import CaseRow, SetupRow
from weir.store.writer import Writer


class OpenCaseStore(Store):
    """A store in which a single case grows."""

    def add_interval(self, setup: int, case: Case, interval: SoakInterval | None = None) -> None:
        """What is known of a soak by now: its case, rewritten, and a new interval, in one piece.

        The case counts as unfinished until add_case.
        """
        with self.session(writing=True) as session:
            self.measured_setup(session, setup)
            row = self.open_case(session, setup, case.frame)
            if row is None:
                row = CaseRow(setup=setup, frame=case.frame, finished=False, document="")
                session.add(row)
            row.document = case_document(case)
            session.flush()
            if interval is not None:
                session.add(interval_row(row.number, interval))

    def intervals(self, setup: int, case: Case) -> list[SoakInterval]:
        """Those that add_interval has stored of a case which is still measured."""
        with self.session() as session:
            row = self.open_case(session, setup, case.frame)
            return [] if row is None else intervals_of(session, row, Result.VERSION)

    def reopen_soak(self, run_id: str) -> int:
        """The number of the setup whose soak goes on; its case is unfinished again. StoreError: no soak."""
        with self.session(writing=True) as session:
            run = self.run_of(session, run_id)
            rows = session.scalars(
                select(CaseRow)
                .join(SetupRow, CaseRow.setup == SetupRow.number)
                .where(SetupRow.run == run.number)
            )
            for row in rows:
                if case_of(session, row, version_of(run.document)).soak is not None:
                    modernise(session, run)
                    run.writer = Writer.here().text()
                    row.finished = False
                    self.given_out[row.setup] = run.id
                    return row.setup
        raise StoreError(f"{self.name}: run {run_id} is no soak; `weir soak LAB` makes one")
