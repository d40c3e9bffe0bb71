# SPDX-License-Identifier: Apache-2.0
"""`weir verify`: whether a cloud does what it should."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.exits import FAILED, INTERRUPTED, USAGE, CommandError
from weir.cli.stored import RESULTS, JsonResult, ReportFolder

if TYPE_CHECKING:
    from weir.lab.sut import SutFile
    from weir.results.verification import CaseResult, SuiteResult, Verification
    from weir.verify.case import Suite
    from weir.verify.driver import Driver

ALL = "all"
NOT_JUDGED = 2
"""Exit code where a limit could not be judged, as where nothing could be verified."""
_FILE, _PAGE, _JUNIT, _LOCK = "verification.json", "report.html", "junit.xml", "verification.lock"


def verify(
    path: Annotated[
        Path, typer.Argument(metavar="SUT", help="The file of a cloud, or a directory with a sut.yml.")
    ],
    *,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite",
            "-s",
            metavar="NAME",
            help="healthcheck, sanity, performance, application, or all; absent: those of the file.",
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option("--case", metavar="NAME", help="Only that case; several times: these; absent: all."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be run; run nothing.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FOLDER", help="Go on with an interrupted run, from its folder."),
    ] = None,
    as_json: JsonResult = False,
    output: ReportFolder = None,
) -> None:
    """Verify a cloud by suites of cases. Build what each needs, look whether it works, take it down again.

    Exit code 1 if the service level is missed, 2 if it could not be judged. Ctrl-C takes down what the case
    had made; --resume goes on with the cases that are left.
    """
    from weir.fabric.own_folder import own_folder
    from weir.lab.sut import load_sut
    from weir.verify.drivers import DRIVERS, require_rights
    from weir.verify.suites import SUITES

    if resume is not None and (suite or case or output is not None):
        raise CommandError(
            "--resume goes on with what was begun; leave --suite, --case and --output out", USAGE
        )
    sut = load_sut(path)
    chosen = _of_cases(_suites(sut, suite or []), case or [])
    if dry_run:
        planned = _planned(sut, chosen, DRIVERS[sut.driver](sut, Path()))
        print(json.dumps(planned, indent=2) if as_json else "\n".join(_listing(planned)))
        return
    require_rights(sut)
    with own_folder() as directory:
        driver = DRIVERS[sut.driver](sut, directory)
        with _begun(sut, chosen, driver, resume, output) as (begun, folder):
            found = _run(sut, chosen if resume is None else _suites(sut, list(SUITES)), driver, begun, folder)
            _shown(found, folder, as_json=as_json)
    outcomes = [one.outcome for one in found.verdicts()]
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if "missed" in outcomes:
        raise typer.Exit(FAILED)
    if "not judged" in outcomes:
        raise typer.Exit(NOT_JUDGED)


def _suites(sut: SutFile, names: list[str]) -> list[Suite]:
    from weir.lab.problem import nearest
    from weir.verify.suites import SUITES

    for name in names:
        if name not in (*SUITES, ALL):
            close = nearest(name, [*SUITES, ALL])
            meant = f" (did you mean {close}?)" if close else ""
            expected = ", ".join([*SUITES, ALL])
            raise CommandError(f"unknown suite {name!r}{meant}; expected one of {expected}", USAGE)
    wanted = sut.suites if not names or ALL in names else names
    return [one.of(sut) for name, one in SUITES.items() if name in wanted]


def _of_cases(suites: list[Suite], names: list[str]) -> list[Suite]:
    from dataclasses import replace

    known = [one.name for each in suites for one in each.cases]
    for name in names:
        if name not in known:
            raise CommandError(f"unknown case {name!r}; expected one of {', '.join(known)}", USAGE)
    if not names:
        return suites
    some = [replace(one, cases=tuple(each for each in one.cases if each.name in names)) for one in suites]
    return [one for one in some if one.cases]


def _planned(sut: SutFile, suites: list[Suite], driver: Driver) -> dict[str, Any]:
    return {
        "name": sut.name,
        "driver": sut.driver,
        "case_time_limit_s": sut.case_time_limit_s,
        "suites": [
            {
                "name": suite.name,
                "title": suite.title,
                "needs": list(suite.needs(driver)),
                "cases": [
                    {"name": case.name, "title": case.title, "lacks": case.lacks(driver)}
                    for case in suite.cases
                ],
            }
            for suite in suites
        ],
    }


def _listing(planned: dict[str, Any]) -> Iterator[str]:
    limit = f"at most {planned['case_time_limit_s']:g} s a case"
    yield f"{planned['name']}: driver {planned['driver']}, {limit}"
    for suite in planned["suites"]:
        yield f"{suite['name']}: {suite['title']}"
        yield from (f"  needs {one}" for one in suite["needs"])
        width = max((len(case["name"]) for case in suite["cases"]), default=0)
        for case in suite["cases"]:
            lacks = case["lacks"]
            yield f"  {case['name']:<{width}}  {f'skipped: {lacks}' if lacks is not None else case['title']}"
    yield "nothing was run"


def _interrupted(folder: Path, sut: SutFile) -> Verification:
    from pydantic import ValidationError

    from weir import __version__
    from weir.base.read_file import read_bytes
    from weir.base.record import fault_text, spec_sha256
    from weir.results.verification import Verification

    path = folder / _FILE
    try:
        found = Verification.read(read_bytes(path))
    except OSError as error:
        message = f"{path}: {error.strerror}; expected the folder of an interrupted run"
        raise CommandError(message, USAGE) from error
    except ValidationError as error:
        raise CommandError(f"{path}: is no verification: {fault_text(error)}", USAGE) from error
    if found.spec_sha256 != spec_sha256(sut):
        raise CommandError(f"{path} is of another file than this one; run it anew", USAGE)
    if found.weir != __version__:
        message = f"{found.id} was begun by Weir {found.weir}, and this is {__version__}; run it anew"
        raise CommandError(message, USAGE)
    if all(case.outcome != "not run" for suite in found.suites for case in suite.cases):
        raise CommandError(f"{found.id} has run all its cases; run it anew, without --resume", USAGE)
    return found


def _earlier(sut: SutFile) -> Iterator[Verification]:
    """Runs of it in the usual folder, as far as they can be read."""
    from pydantic import ValidationError

    from weir.base.error import WeirError
    from weir.base.read_file import read_bytes
    from weir.results.verification import Verification

    for path in RESULTS.glob(f"{sut.name}-verify-*/{_FILE}"):
        with contextlib.suppress(OSError, ValidationError, WeirError):
            yield Verification.read(read_bytes(path))


@contextlib.contextmanager
def _begun(
    sut: SutFile, suites: list[Suite], driver: Driver, resume: Path | None, output: Path | None
) -> Iterator[tuple[Verification, Path]]:
    """What is to be run, and its folder, which nobody else verifies into meanwhile."""
    from weir.store.files import FileError, check_folder, make_folder, remove_folders
    from weir.verify.run import planned

    if resume is not None:
        with _alone(resume) if resume.is_dir() else contextlib.nullcontext():
            yield _interrupted(resume, sut), resume
        return
    found = planned(sut, suites, driver)
    check_folder(output or RESULTS, "--output")
    folder = output or RESULTS / found.id
    try:
        made = make_folder(folder)
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}; choose another place with --output") from error
    try:
        with _alone(folder):
            yield found, folder
    finally:
        remove_folders(made)  # where nothing could be verified


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    from weir.base.error import FabricError
    from weir.fabric.lock import Lock

    lock = Lock(folder / _LOCK)
    if not lock.take():
        whose = "another weir verify works in it"
        with contextlib.suppress(OSError):
            whose = f"another weir verify (pid {lock.path.read_text()}) works in it"
        raise FabricError(f"{folder}: {whose}", "wait for its end, or choose another place with --output")
    lock.write(str(os.getpid()))
    try:
        yield
    finally:
        lock.release()


def _run(
    sut: SutFile, suites: list[Suite], driver: Driver, begun: Verification, folder: Path
) -> Verification:
    from weir.store.files import write_file
    from weir.verify.run import Run
    from weir.verify.sanity.change import comparable, compare

    def keep(found: Verification) -> None:
        write_file(folder / _FILE, found.model_dump_json(indent=2) + "\n", "", folders=True)

    last = comparable(begun, _earlier(sut))
    found = Run(sut, suites, driver, begun, keep=keep, told=_told, say=_say).run()
    if last is not None:
        compare(found, last)
        keep(found)
    return found


def _shown(found: Verification, folder: Path, *, as_json: bool) -> None:
    from weir.report.blocks import new_console
    from weir.store.files import write_file
    from weir.verify.report.junit import junit
    from weir.verify.report.page import page
    from weir.verify.report.text import show

    for name, text in ((_PAGE, page(found)), (_JUNIT, junit(found))):
        write_file(folder / name, text, f"what was found is in {folder / _FILE}", folders=True)
    console = new_console(stderr=as_json)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        show(found, console)
    console.print(f"report: {folder / _PAGE} ({_JUNIT} and {_FILE} beside it)", soft_wrap=True)
    if found.interrupted:
        console.print(f"go on with the rest: weir verify SUT --resume {folder}", soft_wrap=True)


def _told(suite: SuiteResult, case: CaseResult) -> None:
    done = sum(one.outcome != "not run" for one in suite.cases)
    why = f": {case.why}" if case.why else ""
    place = f"[{done}/{len(suite.cases)}] {case.name}"
    print(f"{place}: {case.outcome} in {case.seconds:.1f} s{why}", file=sys.stderr)


def _say(said: str) -> None:
    print(f"  {said}", file=sys.stderr, flush=True)
