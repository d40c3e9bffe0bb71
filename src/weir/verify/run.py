# SPDX-License-Identifier: Apache-2.0
"""A verification: every case of the chosen suites in turn, each result kept as soon as it is known; and what
the service level says of them."""

from __future__ import annotations

import secrets
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from weir import __version__, fabric
from weir.base.error import WeirError
from weir.base.record import spec_sha256
from weir.fabric import stop_signals
from weir.fabric.program_log import printable
from weir.lab.sut import SutFile, SutSla
from weir.results.result import Verdict
from weir.results.verification import CaseResult, SuiteResult, Verification
from weir.verify.case import Case, Running, Suite
from weir.verify.chains.level import chain_verdicts
from weir.verify.driver import CannotRunError, Driver
from weir.verify.sip.level import call_verdicts

_CHARACTERS = 2000
"""Of what a cloud says of one thing."""
Keep = Callable[[Verification], None]
Told = Callable[[SuiteResult, CaseResult], None]


def planned(sut: SutFile, suites: Sequence[Suite], driver: Driver) -> Verification:
    """What will be run, with nothing known yet."""
    began = datetime.now(UTC)
    return Verification(
        weir=__version__,
        id=f"{sut.name}-verify-{began:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        sut=sut.name,
        title=sut.title,
        driver=sut.driver,
        system=driver.system,
        started_at=began.isoformat(timespec="seconds"),
        spec_sha256=spec_sha256(sut),
        spec=sut.model_dump(mode="json"),
        fidelity=_fidelity(driver, suites),
        suites=[
            SuiteResult(
                name=suite.name,
                title=suite.title,
                cases=[CaseResult(name=case.name, title=case.title) for case in suite.cases],
            )
            for suite in suites
        ],
    )


def _fidelity(driver: Driver, suites: Sequence[Suite]) -> list[str]:
    return [*map(_plain, driver.fidelity), *(one for suite in suites for one in suite.fidelity)]


def _plain(said: str) -> str:
    """In one line, as it can be shown and written: clouds and their servers say what they like."""
    line = printable(" ".join(said.split()))
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]} …"


class Run:
    """One verification; `found`: planned, or of a run that was interrupted, whose cases that ended stay."""

    def __init__(
        self,
        sut: SutFile,
        suites: Sequence[Suite],
        driver: Driver,
        found: Verification,
        *,
        keep: Keep,
        told: Told,
        say: Callable[[str], None] = lambda _said: None,
    ) -> None:
        self._sut = sut
        self._suites = {suite.name: suite for suite in suites}
        self._driver = driver
        self.found = found
        self._keep = keep
        self._told = told
        self._say = say
        self._began_s = 0.0
        """As if all of it had been done since then without a pause."""

    def run(self) -> Verification:
        """To its end, or to Ctrl-C: then it is interrupted. WeirError where nothing can be verified."""
        found = self.found
        self._began_s = time.monotonic() - found.seconds
        self._driver.require()
        wanted = [self._suites[one.name] for one in found.suites]
        for one in wanted:
            one.require(self._driver, self._sut.application)
        # Known better now that the driver has looked.
        found.system, found.fidelity = self._driver.system, _fidelity(self._driver, wanted)
        found.interrupted = False
        found.fingerprint = fabric.fingerprint(0, "unknown", {})
        try:
            with stop_signals.held():
                try:
                    self._cases()
                except KeyboardInterrupt:
                    found.interrupted = True
                    stop_signals.discard()
        except KeyboardInterrupt:
            found.interrupted = True
        for suite in found.suites:
            timed = not self._suites[suite.name].measures
            suite.verdicts = [
                *verdicts(suite, self._sut.sla, timed=timed),
                *chain_verdicts(suite, self._sut.sla.chains, self._sut.performance.traffic),
                *call_verdicts(suite, self._sut.sla.calls, self._sut.application),
            ]
        found.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._store()
        return found

    def _store(self) -> None:
        """With the time so far: whoever resumes a run that was killed adds to it."""
        self.found.seconds = round(time.monotonic() - self._began_s, 1)
        self._keep(self.found)

    def _cases(self) -> None:
        self._store()
        for suite in self.found.suites:
            for number, case in enumerate(suite.cases):
                if case.outcome != "not run":
                    continue
                stop_signals.check()
                wanted = next(one for one in self._suites[suite.name].cases if one.name == case.name)
                running = Running(
                    self._driver, self._sut.case_time_limit_s, self._sut.application, say=self._say
                )
                found, interrupted = executed(wanted, running)
                suite.cases[number] = found
                self._store()
                if interrupted:
                    raise KeyboardInterrupt
                self._told(suite, found)


def executed(case: Case, running: Running) -> tuple[CaseResult, bool]:
    """One case, to its end, and whether that was Ctrl-C: then it counts as not run. An error of the cloud's
    is its outcome, and so is a defect of Weir, whose traceback goes to the terminal: others can be run."""
    found = CaseResult(name=case.name, title=case.title)
    interrupted = False
    try:
        lacking = case.lacks(running.driver)
        if lacking is not None:
            raise CannotRunError(lacking)
        try:
            case.run(running)
        except CannotRunError:
            running.left_s()  # what took too long has failed, whatever it could not do
            raise
        running.left_s()
        found.outcome = "passed"
    except CannotRunError as error:
        found.outcome, found.why = "skipped", _plain(str(error))
    except WeirError as error:
        found.outcome, found.why = "failed", _plain(str(error))
    except KeyboardInterrupt:
        interrupted = True
    except OSError:  # of this machine, or of whoever reads what is said: the others would meet it too
        raise
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        found.outcome, found.why = "failed", _plain(f"a defect of Weir: {type(error).__name__}: {error}")
    try:
        stop_signals.check()  # programs in this terminal get it too, and that is no fault of the cloud
    except KeyboardInterrupt:
        found.outcome, found.why, interrupted = "not run", None, True
    found.seconds = round(running.took_s(), 3)
    found.clean_up_seconds = round(running.clean_up_s, 3)
    found.operations = running.operations
    for one in found.operations:
        one.found = _plain(one.found)
    found.not_removed = _plain("; ".join(dict.fromkeys(running.left))) if running.left else None
    found.calls, found.capacity, found.chains = running.calls, running.capacity, running.chains
    found.scenario = running.scenario_load
    if found.not_removed is not None and found.outcome in ("passed", "skipped"):
        found.outcome, found.why = "failed", f"what it made could not be removed: {found.not_removed}"
    return found, interrupted


def verdicts(suite: SuiteResult, sla: SutSla, *, timed: bool = True) -> Iterator[Verdict]:
    """Of one suite. A case that was not run, or was skipped, counts in none. `timed`: whether times are
    judged."""
    run = [one for one in suite.cases if one.outcome in ("passed", "failed")]
    failed = sum(one.outcome == "failed" for one in run)
    left = suite.count("not run")
    # Of cases that are left, all may pass yet: it is the least that the share can become.
    ratio = failed / (len(run) + left) if run or left else None
    over = ratio is not None and ratio > sla.failure_ratio
    known = ratio if not left or over else None
    yield Verdict(
        criterion=f"{suite.name}: cases that failed",
        limit=sla.failure_ratio,
        found=known,
        unit="share",
        share=known / sla.failure_ratio if known is not None and sla.failure_ratio else None,
        met=known is not None and not over,
        why=None if known is not None else _unknown(left, len(suite.cases)),
    )
    most_s = sla.time_s.max
    if most_s is None or not timed:
        return
    longest_s = max((one.seconds for one in run), default=None)
    late = longest_s is not None and longest_s > most_s
    known_s = longest_s if not left or late else None
    yield Verdict(
        criterion=f"{suite.name}: time of the longest case",
        limit=most_s,
        found=known_s,
        unit="s",
        share=known_s / most_s if known_s is not None else None,
        met=known_s is not None and not late,
        why=None if known_s is not None else "no case was run" if not left else f"{left} cases were not run",
    )


def _unknown(left: int, cases: int) -> str:
    return f"{left} of {cases} cases were not run" if left else "all cases were skipped"
