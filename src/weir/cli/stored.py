# SPDX-License-Identifier: Apache-2.0
"""The stored run that a command names, and the reports that a command writes of a new one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from rich.console import Console

    from weir.results.result import Result
    from weir.store.database import Database

GO_ON = "weir run --resume"
LATEST = "latest"
RESULTS = Path("results")
"""Where reports go that nobody gave a place."""

StoreLocation = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Database of results: a path or URL; absent: $WEIR_STORE, or in the data directory.",
        envvar="WEIR_STORE",
    ),
]
JsonResult = Annotated[bool, typer.Option("--json", help="Print the result as JSON; progress on stderr.")]
ReportFolder = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Directory for the reports; absent: results/<run>."),
]


def stored(run: str, location: str | None) -> Result:
    """The run of that id, the latest, or the one in that file (a directory: in its result.json)."""
    from weir.store.store import Store

    path = Path(run)
    if (path / "result.json").is_file():
        return _read(path / "result.json")
    if path.is_file() or path.suffix == ".json" or len(path.parts) > 1:
        return _read(path)
    with Store(location, reading=True) as store:
        if run != LATEST:
            return store.load(run)
        result = store.latest()
        if result is None:
            raise CommandError(nothing_stored(store), USAGE)
        return result


def writing(what: str) -> None:
    """Says so on stderr before it takes a while."""
    print(f"writing {what} ...", file=sys.stderr, flush=True)


def report_folder(output: Path | None) -> Callable[[str], Path]:
    """Where the reports of the run of an id go."""
    return lambda run: output or RESULTS / run


def write_reports(
    result: Result,
    output: Path | None,
    stems: Mapping[str, str],
    console: Console,
    *,
    as_json: bool = False,
    shown: str = "terminal",
    store: str | None = None,
) -> None:
    """Shows a new result, as JSON or in the format `shown`, and writes it into its folder, in those formats.

    `stems`: names of the files without suffix, by format; the first is the one that is pointed to. `store`:
    that was chosen for the run.
    """
    from weir.report import format_named, render, terminal
    from weir.store.files import write_file

    folder = report_folder(output)(result.id)
    shapes = {name: format_named(name) for name in stems}
    paths = {
        name: folder / f"{stem}{shapes[name].suffix}"
        for name, stem in stems.items()
        if (lacks := shapes[name].lacks) is None or lacks(result) is None
    }
    place = f" --store {shlex.quote(store)}" if store is not None else ""
    kept = f"the run is in the store: `weir report {result.id}{place} -o FILE` writes its report again"
    if result.interrupted:
        writing("the reports")
    if as_json:
        print(render(result, "json"), end="")
    elif shown == "terminal":
        terminal.show(result, console)
    else:
        print(render(result, shown), end="")
    for name, path in paths.items():
        write_file(path, render(result, name), kept, folders=True)
    first, *others, last = paths.values()
    beside = f"{', '.join(path.name for path in others)} and {last.name}"
    console.print(f"report: {first} ({beside} beside it)", soft_wrap=True)
    stale = sorted(path.name for path in folder.glob("*.csv") if path not in paths.values())
    if stale:
        console.print(f"there from before: {', '.join(stale)}", soft_wrap=True, markup=False)


def point_on(result: Result, console: Console, store: str | None, on: str | None = None) -> None:
    """To how a run goes on that has left something out. `on`: the hosts that have measured it."""
    if result.campaign is not None and (result.campaign.left_out or result.interrupted):
        where = f" --on {shlex.quote(on)}" if on is not None else ""
        place = f" --store {shlex.quote(store)}" if store is not None else ""
        more = " --budget TIME" if result.campaign.budget_s is not None and not result.interrupted else ""
        console.print(f"go on: {GO_ON} {result.id}{where}{place}{more}", soft_wrap=True, markup=False)


@contextmanager
def going_on_after(place: str, command: str, run: Callable[[], str | None]) -> Iterator[None]:
    """A store `place` that goes away in the body and may come back, a server's or one on a full disk, is told
    with what goes on with the run, if that has got into the store."""
    from weir.store.connection import StoreError, StoreFullError

    try:
        yield
    except StoreError as error:
        full = isinstance(error, StoreFullError)
        if not (full or "://" in place) or (begun := run()) is None:
            raise
        when = "then" if full else "when it is there again,"
        same = f"{when} `{command} {begun}` with the same --store goes on"
        raise type(error)(f"{error}; {same}") from error


def check_reports(output: Path | None) -> None:
    """Before anything is deployed: FileError if `write_reports` could not write there."""
    from weir.store.files import check_folder

    check_folder(output or RESULTS, "--output")


def nothing_stored(store: Database) -> str:
    """What to say of an empty store."""
    return f"{store.name} has no runs yet; `weir run LAB` makes one"


def _read(path: Path) -> Result:
    from pydantic import ValidationError

    from weir.base.read_file import read_bytes
    from weir.base.record import fault_text
    from weir.results.document import NewerDocumentError
    from weir.results.result import RESULT_VERSION, Result

    try:
        return Result.read(read_bytes(path))
    except OSError as error:
        raise CommandError(
            f"{path}: {error.strerror}; expected a result.json or a run's id", USAGE
        ) from error
    except NewerDocumentError as error:
        raise CommandError(f"{path}: {error}", USAGE) from error
    except ValidationError as error:
        raise CommandError(
            f"{path}: no result of version {RESULT_VERSION}: {fault_text(error)}", USAGE
        ) from error
