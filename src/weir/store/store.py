# SPDX-License-Identifier: Apache-2.0
"""Results in a database, written piece by piece as they are measured: a killed run keeps what it finished."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from weir.base.record import fault_text
from weir.results.document import NewerDocumentError
from weir.results.result import Case, MachineBest, Result, Setup, Trial
from weir.results.rounds import UNFINISHED
from weir.store.connection import StoreError
from weir.store.database import Database
from weir.store.rows import (
    add_parts,
    add_trials,
    case_document,
    modernise,
    rewrite_run,
    rewrite_setup,
    run_row,
    setup_of,
    setup_row,
    version_of,
)
from weir.store.tables import NEWEST_FIRST, CaseRow, FigureRow, RunRow, SetupRow, TrialRow
from weir.store.writer import Unfinished, Writer, unfinished

REMEMBERED_RUNS = 30  # newest runs that tell of the machine's best


@dataclass(frozen=True)
class UnfinishedRun:
    """A campaign that has not ended."""

    id: str
    state: Unfinished
    on_hosts: bool
    """It measured one host's part of a campaign over several."""


class Store(Database):
    """A result store. Every method commits before it returns, and raises StoreError when that fails.

    A run may be removed while it is measured. Numbers of setups are given out again then, so each write looks
    whether its setup is still of the run that it was given for.
    """

    def __init__(
        self, location: str | Path | None = None, *, reading: bool = False, changing: bool = True
    ) -> None:
        super().__init__(location, reading=reading, changing=changing)
        self.given_out: dict[int, str] = {}
        """By the number of a setup that this one has given out: its run's id."""

    def begin(self, result: Result) -> None:
        """A new run. Setups in `result` are not stored: add them as they come."""
        with self.session(writing=True) as session:
            if session.scalar(select(RunRow.number).where(RunRow.id == result.id)) is not None:
                raise StoreError(f"{self.name}: has a run {result.id} already; give the new one another id")
            session.add(run_row(result, Writer.here()))

    def update(self, result: Result) -> None:
        """Rewrites what is known of a run itself (finished_at, seconds, interrupted …), not its setups."""
        with self.session(writing=True) as session:
            rewrite_run(self._measured_run(session, result.id), result)

    def add_setup(self, run_id: str, setup: Setup) -> int:
        """A setup of a run; its number, for add_case. Cases in it are stored too."""
        with self.session(writing=True) as session:
            row = setup_row(self._measured_run(session, run_id).number, setup)
            session.add(row)
            session.flush()
            number = row.number
        self.given_out[number] = run_id
        for case in setup.cases:
            self.add_case(number, case)
        return number

    def update_setup(self, number: int, setup: Setup) -> None:
        """Rewrites what is known of a setup itself (bring_up_s, refused …), not its cases."""
        with self.session(writing=True) as session:
            rewrite_setup(self.measured_setup(session, number), setup)

    def add_trial(self, setup: int, frame: str, mean_frame_bytes: float, trial: Trial) -> None:
        """A finished trial of a case that is still measured."""
        with self.session(writing=True) as session:
            self.measured_setup(session, setup)
            row = self.open_case(session, setup, frame)
            if row is None:
                case = Case(frame=frame, mean_frame_bytes=mean_frame_bytes, problem=UNFINISHED)
                row = CaseRow(setup=setup, frame=frame, finished=False, document=case_document(case))
                session.add(row)
                session.flush()
            add_trials(session, row.number, [trial], in_curve=False)

    def add_case(self, setup: int, case: Case) -> None:
        """A finished case; replaces what add_trial stored of it, and what earlier rounds found."""
        with self.session(writing=True) as session:
            self.measured_setup(session, setup)
            session.execute(
                delete(CaseRow).where(
                    CaseRow.setup == setup, CaseRow.frame == case.frame, CaseRow.finished.is_(True)
                )
            )
            row = self.open_case(session, setup, case.frame)
            if row is None:
                row = CaseRow(setup=setup, frame=case.frame, finished=True, document=case_document(case))
                session.add(row)
                session.flush()
            else:
                row.finished, row.document = True, case_document(case)
                session.execute(delete(TrialRow).where(TrialRow.case == row.number))
                session.execute(delete(FigureRow).where(FigureRow.case == row.number))
            add_parts(session, row.number, case)

    def reopen_run(self, run_id: str) -> tuple[Result, list[int]]:
        """A run that goes on, and the numbers of its setups, in order. Trials of cases that were still
        measured when it was killed are removed: these begin anew."""
        with self.session(writing=True) as session:
            run = self.run_of(session, run_id)
            modernise(session, run)
            run.writer = Writer.here().text()
            numbers = list(
                session.scalars(
                    select(SetupRow.number).where(SetupRow.run == run.number).order_by(SetupRow.number)
                )
            )
            session.execute(delete(CaseRow).where(CaseRow.setup.in_(numbers), CaseRow.finished.is_(False)))
            self.given_out |= dict.fromkeys(numbers, run.id)
        result = self.load(run_id)
        result.interrupted, result.finished_at = False, None
        self.update(result)
        return result, numbers

    def remove_case(self, setup: int, frame: str) -> None:
        """All that is stored of it: it is measured anew."""
        with self.session(writing=True) as session:
            self.measured_setup(session, setup)
            session.execute(delete(CaseRow).where(CaseRow.setup == setup, CaseRow.frame == frame))

    def unfinished_of(self, spec_sha256: str) -> UnfinishedRun | None:
        """The newest run of that lab, where it is a campaign that has not ended."""
        wanted = select(RunRow.document, RunRow.writer).where(RunRow.spec_sha256 == spec_sha256)
        with self.session() as session:
            rows = session.execute(wanted.order_by(*NEWEST_FIRST).limit(REMEMBERED_RUNS)).all()
        for document, writer in rows:
            with suppress(ValueError, KeyError, TypeError):  # one that another Weir wrote
                run = json.loads(document)
                campaign = run.get("campaign")
                if run["finished_at"] is not None or run["interrupted"] or not campaign:
                    return None
                on_hosts = campaign.get("shared") is not None
                return UnfinishedRun(str(run["id"]), unfinished(writer), on_hosts)
        return None

    def runs_of_campaign(self, campaign: str, *, trials: bool = True) -> list[Result]:
        """The runs, one a host, of a campaign over several hosts, by its id: the oldest first. `trials`: as
        `load` has it."""
        wanted = select(RunRow.id).where(RunRow.campaign == campaign).order_by(RunRow.number)
        with self.session() as session:
            found = session.scalars(wanted).all()
        return [self.load(one, trials=trials) for one in found]

    def load(self, run_id: str, *, trials: bool = True) -> Result:
        """A run with everything stored of it, or without its cases' trials and curves. A beginning of the id
        will do if only one run has it."""
        with self.session() as session:
            row = self.run_of(session, run_id)
            with self._as_written(f"run {row.id}"):
                version = version_of(row.document)
                result = Result.read(row.document)
                rows = session.scalars(
                    select(SetupRow).where(SetupRow.run == row.number).order_by(SetupRow.number)
                )
                result.setups = [setup_of(session, setup, version, trials=trials) for setup in rows]
        return result

    def latest(self) -> Result | None:
        """The newest run."""
        wanted = select(RunRow.id).order_by(*NEWEST_FIRST).limit(1)
        with self.session() as session:
            found = session.scalar(wanted)
        return self.load(found) if found is not None else None

    def machine_best(self, boot_id: str, version: str) -> MachineBest:
        """The machine's best since that boot, as the newest runs of that version of Weir saw it."""
        wanted = select(RunRow.document).order_by(*NEWEST_FIRST).limit(REMEMBERED_RUNS)
        with self.session() as session:
            documents = session.scalars(wanted).all()
        best = MachineBest(boot_id=boot_id)
        for document in documents:
            # One that another Weir wrote is no reason not to begin.
            with suppress(ValueError, KeyError, TypeError):  # of both: ValidationError, JSONDecodeError
                run = json.loads(document)
                if boot_id and run["fingerprint"]["versions"]["weir"] == version and run.get("machine"):
                    best = best.with_better(MachineBest.model_validate(run["machine"]))
        return best

    def seconds_of(self, spec_sha256: str, cpu: str, cores: int) -> Sequence[float]:
        """What the newest runs of that lab took on such a machine, newest first; without those that
        ended early, or gave a case up."""
        wanted = select(RunRow.number, RunRow.document).where(RunRow.spec_sha256 == spec_sha256)
        with self.session() as session:
            rows = session.execute(wanted.order_by(*NEWEST_FIRST).limit(REMEMBERED_RUNS)).all()
            found: list[float] = []
            for number, document in rows:
                with suppress(ValueError, KeyError, TypeError):  # one that another Weir wrote
                    run = json.loads(document)
                    here = (run["fingerprint"]["cpu"], run["fingerprint"]["cores"]) == (cpu, cores)
                    whole = run["finished_at"] and not run["interrupted"]
                    whole = whole and not (run.get("campaign") or {}).get("left_out")
                    if here and whole and self._none_given_up(session, number):
                        found.append(float(run["seconds"]))
        return found

    def _none_given_up(self, session: Session, run: int) -> bool:
        """Nor was there nothing to give up."""
        wanted = select(CaseRow.document).join(SetupRow, CaseRow.setup == SetupRow.number)
        documents = session.scalars(wanted.where(SetupRow.run == run)).all()
        return bool(documents) and all(json.loads(one).get("problem") is None for one in documents)

    def _measured_run(self, session: Session, run_id: str) -> RunRow:
        """Of what this one measures: by its whole id."""
        row = session.scalar(select(RunRow).where(RunRow.id == run_id))
        if row is None:
            raise self._removed(run_id)
        return row

    def measured_setup(self, session: Session, number: int) -> SetupRow:
        """Of a run that this one measures. StoreError: it was removed."""
        row = session.get(SetupRow, number)
        run_id = self.given_out.get(number)
        its = select(RunRow.id).where(RunRow.number == row.run) if row is not None else None
        if row is None or its is None or run_id not in {None, session.scalar(its)}:
            raise (
                self._removed(run_id) if run_id else StoreError(f"{self.name}: has no setup number {number}")
            )
        return row

    def _removed(self, run_id: str) -> StoreError:
        return StoreError(
            f"{self.name}: run {run_id} was removed while it was measured; what it finds from now on is kept"
            " nowhere: measure it again, and remove only what has ended"
        )

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

    @staticmethod
    def open_case(session: Session, setup: int, frame: str) -> CaseRow | None:
        """Of a setup: the one that is still measured."""
        return session.scalar(
            select(CaseRow).where(CaseRow.setup == setup, CaseRow.frame == frame, CaseRow.finished.is_(False))
        )
