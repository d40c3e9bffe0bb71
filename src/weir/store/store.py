# SPDX-License-Identifier: Apache-2.0
"""Results in a database, written piece by piece as they are measured: a killed run keeps what it finished."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from weir.base.record import fault_text
from weir.lab.problem import did_you_mean
from weir.results.document import NewerDocumentError
from weir.results.result import Case, MachineBest, Result, Setup, Trial
from weir.results.soak import SoakInterval
from weir.results.upgrades import upgraded
from weir.store.database import (
    CaseRow,
    IntervalRow,
    RunRow,
    SetupRow,
    StoreError,
    TrialRow,
    UnknownRunError,
    default_location,
    explained,
    open_database,
)

REMEMBERED_RUNS = 30  # newest runs that tell of the machine's best
LISTED = 5  # newest runs that a message names
UNFINISHED = "The run ended before this case was finished."


@dataclass(frozen=True)
class RunSummary:
    """One line of `list`."""

    id: str
    lab: str
    started_at: str
    finished_at: str | None
    quick: bool
    interrupted: bool
    unreadable: str | None = None
    """Why this Weir cannot read the run; then the fields before are empty but for the first two."""


class Store:
    """A result store. Every method commits before it returns, and raises StoreError when that fails."""

    def __init__(self, location: str | Path | None = None, *, reading: bool = False) -> None:
        """`reading`: nothing is made, and NoStoreError says that there is no store."""
        self._engine, self.name = open_database(location or default_location(), reading=reading)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self._engine.dispose()

    def begin(self, result: Result) -> None:
        """A new run. Setups in `result` are not stored: add them as they come."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            if session.scalar(select(RunRow.number).where(RunRow.id == result.id)) is not None:
                raise StoreError(f"{self.name}: has a run {result.id} already; give the new one another id")
            session.add(RunRow(id=result.id, lab=result.lab, document=_run_document(result)))

    def update(self, result: Result) -> None:
        """Rewrites what is known of a run itself (finished_at, seconds, interrupted …), not its setups."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            self._run(session, result.id).document = _run_document(result)

    def add_setup(self, run_id: str, setup: Setup) -> int:
        """A setup of a run; its number, for add_case. Cases in it are stored too."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            row = SetupRow(run=self._run(session, run_id).number, document=_setup_document(setup))
            session.add(row)
            session.flush()
            number = row.number
        for case in setup.cases:
            self.add_case(number, case)
        return number

    def update_setup(self, number: int, setup: Setup) -> None:
        """Rewrites what is known of a setup itself (bring_up_s, refused …), not its cases."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            row = session.get(SetupRow, number)
            if row is None:
                raise StoreError(f"{self.name}: has no setup number {number}")
            row.document = _setup_document(setup)

    def add_trial(self, setup: int, frame: str, mean_frame_bytes: float, trial: Trial) -> None:
        """A finished trial of a case that is still measured."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            row = self._open_case(session, setup, frame)
            if row is None:
                case = Case(frame=frame, mean_frame_bytes=mean_frame_bytes, problem=UNFINISHED)
                row = CaseRow(setup=setup, frame=frame, finished=False, document=_case_document(case))
                session.add(row)
                session.flush()
            session.add(_trial_row(row.number, trial, in_curve=False))

    def add_case(self, setup: int, case: Case) -> None:
        """A finished case; replaces what add_trial stored of it, and what earlier rounds found."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            session.execute(
                delete(CaseRow).where(
                    CaseRow.setup == setup, CaseRow.frame == case.frame, CaseRow.finished.is_(True)
                )
            )
            row = self._open_case(session, setup, case.frame)
            if row is None:
                row = CaseRow(setup=setup, frame=case.frame, finished=True, document=_case_document(case))
                session.add(row)
                session.flush()
            else:
                row.finished, row.document = True, _case_document(case)
                session.execute(delete(TrialRow).where(TrialRow.case == row.number))
            session.add_all([_trial_row(row.number, trial, in_curve=False) for trial in case.trials])
            session.add_all([_trial_row(row.number, trial, in_curve=True) for trial in case.curve])

    def add_interval(self, setup: int, case: Case, interval: SoakInterval | None = None) -> None:
        """What is known of a soak by now: its case, rewritten, and a new interval, in one piece.

        The case counts as unfinished until add_case.
        """
        with explained(self.name), Session(self._engine) as session, session.begin():
            row = self._open_case(session, setup, case.frame)
            if row is None:
                row = CaseRow(setup=setup, frame=case.frame, finished=False, document="")
                session.add(row)
            row.document = _case_document(case)
            session.flush()
            if interval is not None:
                session.add(IntervalRow(case=row.number, document=interval.model_dump_json()))

    def intervals(self, setup: int, case: Case) -> list[SoakInterval]:
        """Those that add_interval has stored of a case which is still measured."""
        with explained(self.name), Session(self._engine) as session:
            row = self._open_case(session, setup, case.frame)
            return [] if row is None else _intervals(session, row, Result.VERSION)

    def reopen_soak(self, run_id: str) -> int:
        """The number of the setup whose soak goes on; its case is unfinished again. StoreError: no soak."""
        with explained(self.name), Session(self._engine) as session, session.begin():
            run = self._run(session, run_id)
            rows = session.scalars(
                select(CaseRow)
                .join(SetupRow, CaseRow.setup == SetupRow.number)
                .where(SetupRow.run == run.number)
            )
            for row in rows:
                if _case(session, row, _version(run.document)).soak is not None:
                    _rewrite(session, run)
                    row.finished = False
                    return row.setup
        raise StoreError(f"{self.name}: run {run_id} is no soak; `weir soak LAB` makes one")

    def load(self, run_id: str) -> Result:
        """A run with everything stored of it. A beginning of the id will do if only one run has it."""
        with explained(self.name), Session(self._engine) as session:
            row = self._run(session, run_id)
            with self._as_written(f"run {row.id}"):
                version = _version(row.document)
                result = Result.read(row.document)
                rows = session.scalars(
                    select(SetupRow).where(SetupRow.run == row.number).order_by(SetupRow.number)
                )
                result.setups = [_setup(session, setup, version) for setup in rows]
        return result

    def latest(self) -> Result | None:
        """The newest run."""
        wanted = select(RunRow.id).order_by(RunRow.number.desc()).limit(1)
        with explained(self.name), Session(self._engine) as session:
            found = session.scalar(wanted)
        return self.load(found) if found is not None else None

    def machine_best(self, boot_id: str, version: str) -> MachineBest:
        """The machine's best since that boot, as the newest runs of that version of Weir saw it."""
        wanted = select(RunRow.document).order_by(RunRow.number.desc()).limit(REMEMBERED_RUNS)
        with explained(self.name), Session(self._engine) as session:
            documents = session.scalars(wanted).all()
        best = MachineBest(boot_id=boot_id)
        for document in documents:
            # One that another Weir wrote is no reason not to begin.
            with suppress(ValidationError, KeyError, TypeError):
                run = json.loads(document)
                if boot_id and run["fingerprint"]["versions"]["weir"] == version and run.get("machine"):
                    best = best.with_better(MachineBest.model_validate(run["machine"]))
        return best

    def seconds_of(self, spec_sha256: str, cpu: str, cores: int) -> Sequence[float]:
        """What the newest runs of that lab took on such a machine, newest first; without interrupted ones."""
        wanted = select(RunRow.document).order_by(RunRow.number.desc()).limit(REMEMBERED_RUNS)
        with explained(self.name), Session(self._engine) as session:
            documents = session.scalars(wanted).all()
        found: list[float] = []
        for document in documents:
            with suppress(ValueError, KeyError, TypeError):  # one that another Weir wrote
                run = json.loads(document)
                same = (run["spec_sha256"], run["fingerprint"]["cpu"], run["fingerprint"]["cores"])
                if same == (spec_sha256, cpu, cores) and run["finished_at"] and not run["interrupted"]:
                    found.append(float(run["seconds"]))
        return found

    def list(self) -> Sequence[RunSummary]:
        """All runs, oldest first; with those that this Weir cannot read."""
        wanted = select(RunRow.id, RunRow.lab, RunRow.document).order_by(RunRow.number)
        with explained(self.name), Session(self._engine) as session:
            return [_summary(*row) for row in session.execute(wanted)]

    @contextmanager
    def _as_written(self, what: str) -> Iterator[None]:
        try:
            yield
        except NewerDocumentError as error:
            raise StoreError(f"{self.name}: {what}: {error}") from error
        except ValidationError as error:
            raise StoreError(
                f"{self.name}: {what} is not as this Weir writes it: {fault_text(error)}"
            ) from error

    def _run(self, session: Session, run_id: str) -> RunRow:
        row = session.scalar(select(RunRow).where(RunRow.id == run_id))
        if row is not None:
            return row
        near = session.scalars(select(RunRow).where(RunRow.id.startswith(run_id, autoescape=True))).all()
        if len(near) == 1 and run_id:
            return near[0]
        if near:
            raise UnknownRunError(f"{self.name}: {len(near)} runs begin with {run_id!r}; give more of the id")
        known = session.scalars(select(RunRow.id).order_by(RunRow.number.desc())).all()
        raise UnknownRunError(
            f"{self.name}: has no run {run_id!r}; expected one of {', '.join(known[:LISTED]) or 'none yet'}"
            + did_you_mean(run_id, known)
        )

    @staticmethod
    def _open_case(session: Session, setup: int, frame: str) -> CaseRow | None:
        return session.scalar(
            select(CaseRow).where(CaseRow.setup == setup, CaseRow.frame == frame, CaseRow.finished.is_(False))
        )


def _summary(run_id: str, lab: str, document: str) -> RunSummary:
    try:
        one = Result.read(document)
    except NewerDocumentError as error:
        return RunSummary(run_id, lab, "", None, False, False, str(error))
    except ValidationError as error:
        return RunSummary(run_id, lab, "", None, False, False, fault_text(error))
    return RunSummary(one.id, one.lab, one.started_at, one.finished_at, one.quick, one.interrupted)


def _run_document(result: Result) -> str:
    return result.model_copy(update={"setups": []}).model_dump_json()


def _setup_document(setup: Setup) -> str:
    return setup.model_copy(update={"cases": []}).model_dump_json()


def _case_document(case: Case) -> str:
    bare = case.model_copy(update={"trials": [], "curve": []})
    if case.soak is not None:
        bare.soak = case.soak.model_copy(update={"intervals": []})
    return bare.model_dump_json()


def _trial_row(case: int, trial: Trial, *, in_curve: bool) -> TrialRow:
    return TrialRow(case=case, in_curve=in_curve, document=trial.model_dump_json())


def _version(run: str) -> int:
    """In which version a run and its parts were written."""
    return int(json.loads(run).get("version", 1))


def _rewrite(session: Session, run: RunRow) -> None:
    """All of a run in the present version: what is added to it is."""
    version = _version(run.document)
    run.document = upgraded(run.document, "result", version)
    for setup in session.scalars(select(SetupRow).where(SetupRow.run == run.number)):
        setup.document = upgraded(setup.document, "setup", version)
        for case in session.scalars(select(CaseRow).where(CaseRow.setup == setup.number)):
            case.document = upgraded(case.document, "case", version)
            for trial in session.scalars(select(TrialRow).where(TrialRow.case == case.number)):
                trial.document = upgraded(trial.document, "trial", version)
            for interval in session.scalars(select(IntervalRow).where(IntervalRow.case == case.number)):
                interval.document = upgraded(interval.document, "interval", version)


def _setup(session: Session, row: SetupRow, version: int) -> Setup:
    setup = Setup.model_validate_json(upgraded(row.document, "setup", version))
    cases = session.scalars(select(CaseRow).where(CaseRow.setup == row.number).order_by(CaseRow.number))
    setup.cases = [_case(session, case, version) for case in cases]
    return setup


def _intervals(session: Session, case: CaseRow, version: int) -> list[SoakInterval]:
    rows = session.scalars(
        select(IntervalRow).where(IntervalRow.case == case.number).order_by(IntervalRow.number)
    )
    return [SoakInterval.model_validate_json(upgraded(one.document, "interval", version)) for one in rows]


def _case(session: Session, row: CaseRow, version: int) -> Case:
    case = Case.model_validate_json(upgraded(row.document, "case", version))
    if case.soak is not None:
        case.soak.intervals = _intervals(session, row, version)
    for trial in session.scalars(
        select(TrialRow).where(TrialRow.case == row.number).order_by(TrialRow.number)
    ):
        (case.curve if trial.in_curve else case.trials).append(
            Trial.model_validate_json(upgraded(trial.document, "trial", version))
        )
    return case
