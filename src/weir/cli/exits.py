# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and how an error becomes one: a message on stderr, no traceback for what users can mend."""

from __future__ import annotations

import errno
import functools
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import typer

from weir.base.error import ENVIRONMENT, FAILED, INTERRUPTED, OK, UNJUDGED, USAGE, WeirError
from weir.base.printable import printable

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.results.result import Case, Result, Verdict

__all__ = [
    "ENVIRONMENT",
    "FAILED",
    "INTERRUPTED",
    "OK",
    "UNJUDGED",
    "USAGE",
    "CommandError",
    "failed",
    "judged",
    "judged_runs",
    "reporting",
    "with_output",
]

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


class CommandError(WeirError):
    """What the user asked for cannot be done. The message says what, why, and what to do."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code


def failed(why: str) -> NoReturn:
    """A measurement, or a service level, failed: ends the command, after its reports, with the reason."""
    print(f"weir: {printable(why)}", file=sys.stderr)
    raise typer.Exit(FAILED)


def judged(verdicts: Sequence[Verdict]) -> None:
    """Ends the command if the service level is missed, or if part of it could not be judged."""
    missed = sum(one.outcome == "missed" for one in verdicts)
    unknown = [one for one in verdicts if one.outcome == "not judged"]
    if missed:
        failed(f"the service level was missed: {missed} of {len(verdicts)} limits")
    if unknown:
        why = f"{len(unknown)} of {len(verdicts)} limits of the service level could not be judged"
        print(f"weir: {why}: {printable(unknown[0].why or 'not measured')}", file=sys.stderr)
        raise typer.Exit(UNJUDGED)


def judged_runs(lab: Lab, results: Sequence[Result]) -> None:
    """Ends the command with the exit code of its run of a lab, or of those of several hosts."""
    from weir.procedures import own_campaign

    if any(result.interrupted for result in results):
        raise typer.Exit(INTERRUPTED)
    cases = [case for result in results for _, case in result.cases()]
    own = own_campaign(lab)
    if own is not None:
        name = own.__name__.split(".")[-2]
        lacking = own.nothing_found([case.records.get(name, {}) for case in cases])
        if lacking is not None:
            failed(f"{lacking}{_because(cases)}")
        _none_given_up(cases)
        return
    found = any(one.status == "found" for case in cases for one in case.throughput)
    timed = any(trial.valid for case in cases for point in case.delays for trial in point.trials)
    if not found and (lab.measure.goals or not timed):
        lacking = "no case has a rate" if lab.measure.goals else "no delay was measured"
        failed(f"{lacking}{_because(cases)}")
    _none_given_up(cases)
    judged([one for case in cases for one in case.verdicts])


def _none_given_up(cases: Sequence[Case]) -> None:
    """Ends the command if one was, whatever it had found before."""
    from weir.results.rounds import ended

    lost = [case for case in cases if case.problem is not None and ended(case)]
    if lost:
        verb = "was" if len(lost) == 1 else "were"
        failed(f"{len(lost)} of {len(cases)} cases {verb} given up{_because(lost)}")


def _because(cases: Sequence[Case]) -> str:
    """Why the first of those was given up that were."""
    return next((f": {case.problem}" for case in cases if case.problem is not None), "")


def reporting(command: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """`command`, with errors that users can mend turned into messages and exit codes. A defect of Weir keeps
    its traceback.

    With --json the problems of a lab or fleet file are JSON on standard output, for every command that has
    that option.
    """

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        try:
            with _stopped_alike():
                return command(*args, **kwargs)
        except KeyboardInterrupt:
            print("weir: interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except WeirError as error:
            from weir.lab.problem import LabFileError

            if isinstance(error, LabFileError) and kwargs.get("as_json"):
                problems = [asdict(problem) for problem in error.problems]
                print(json.dumps({"valid": False, "problems": problems}, indent=2))
            else:
                print(printable(str(error) if error.located else f"weir: {error}"), file=sys.stderr)
            raise typer.Exit(error.exit_code) from None
        except OSError as error:
            if error.errno not in MACHINES or _is_of_output(error):
                raise
            print(f"weir: {printable(_said(error))}", file=sys.stderr)
            raise typer.Exit(ENVIRONMENT) from None

    return run


@contextmanager
def _stopped_alike() -> Iterator[None]:
    """What a time-out, a service manager or a lost terminal sends is as Ctrl-C in the body, unless this
    process was started to ignore it, or somebody else handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


MACHINES = frozenset(
    {
        errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN,
        errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM, errno.EINTR,
    }
)  # fmt: skip
"""What a call can fail with wherever it is made: the machine has no more of something, forbids it, or breaks
it off."""


def _said(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return (
        f"{where}{error.strerror or error}; the machine refused this in the middle of the work: mend that and"
        " try again (what was built is taken down, now or by the next weir)"
    )


class _Output(io.FileIO):
    """Standard output, which knows when it could not be written: such an error names no file."""

    failed: OSError | None = None

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failed = error
            raise


def _is_of_output(error: OSError) -> bool:
    """Whether `with_output` will say it."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _Output) and raw.failed is error


def with_output(work: Callable[[], object]) -> None:
    """Runs `work`, and then writes out what it printed. Ends the process if standard output takes no more."""
    usual = sys.stdout
    if usual is None:  # closed when this process began
        work()
        return
    raw = _Output(usual.fileno(), "w", closefd=False)
    at_once = raw.isatty() or getattr(usual, "write_through", False)  # PYTHONUNBUFFERED
    out = io.TextIOWrapper(io.BufferedWriter(raw), usual.encoding, usual.errors, line_buffering=at_once)
    sys.stdout = out
    try:
        try:
            work()
        finally:
            out.flush()
    except OSError:
        if raw.failed is None:
            raise
        _end(raw.failed)
    except SystemExit:
        if raw.failed is not None:
            _end(raw.failed)
        raise


def _end(error: OSError) -> NoReturn:
    """A reader that is gone knows it; all else is said."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what is left would fail once more when Python ends
    if error.errno == errno.EPIPE:
        sys.exit(FAILED)
    print(f"weir: standard output: {error.strerror}", file=sys.stderr)
    sys.exit(ENVIRONMENT)
