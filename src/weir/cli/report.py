# SPDX-License-Identifier: Apache-2.0
"""`weir report`: write a stored run again, in any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weir.cli.exits import USAGE, CommandError
from weir.cli.stored import LATEST, StoreLocation, nothing_stored, stored
from weir.report import FORMATS

if TYPE_CHECKING:
    from weir.results.result import Result
    from weir.store.store import RunSummary, Store

    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]


def report(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A run's id or its beginning, `latest`, or a result.json."),
    ] = LATEST,
    *,
    format_name: Annotated[
        FormatName | None,
        typer.Option("--format", "-f", help="Absent: by the suffix of --output; without one, terminal."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there; absent: print it.")
    ] = None,
    list_runs: Annotated[bool, typer.Option("--list", help="List the stored runs, newest first.")] = False,
    store: StoreLocation = None,
) -> None:
    """Show a stored run again: as a table, JSON, CSV or an HTML page. Measures nothing and needs no root."""
    from weir.report import render
    from weir.store.store import Store

    if list_runs:
        if run != LATEST or format_name is not None or output is not None:
            raise CommandError("--list stands alone: it takes no RUN, --format or --output", USAGE)
        with Store(store) as database:
            print(_listing(database))
        return
    chosen = format_name or _format_of(output)
    result = stored(run, store)
    if output is not None:
        _write(output, render(result, chosen))
    elif chosen == "terminal":
        _show(result)
    else:
        print(render(result, chosen), end="")


def _listing(store: Store) -> str:
    """One line a run."""
    runs = store.list()
    if not runs:
        return nothing_stored(store)
    rows = [
        (run.id, run.lab, run.started_at, "quick" if run.quick else "full", _ended(run))
        for run in reversed(runs)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _ended(run: RunSummary) -> str:
    if run.interrupted:
        return "interrupted"
    return "" if run.finished_at else "not finished: still measured, or killed"


def _format_of(output: Path | None) -> str:
    """What the file's suffix asks for."""
    from weir.report import formats

    if output is None:
        return "terminal"
    for known in formats().values():
        if output.suffix == known.suffix:
            return known.name
    suffixes = ", ".join(known.suffix for known in formats().values())
    raise CommandError(
        f"{output}: which format? Give --format, or a name that ends in one of {suffixes}", USAGE
    )


def _show(result: Result) -> None:
    from rich.console import Console

    from weir.report import terminal

    terminal.show(result, Console(highlight=False))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}; choose another place with --output", USAGE) from error
    print(f"wrote {path}")
