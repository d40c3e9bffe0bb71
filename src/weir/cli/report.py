# SPDX-License-Identifier: Apache-2.0
"""`weir report`: write a stored run again, in any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weir.cli import completing
from weir.cli.exits import FAILED, USAGE, CommandError
from weir.cli.stored import LATEST, StoreLocation, stored, writing
from weir.report import FORMATS

if TYPE_CHECKING:
    from weir.results.result import Result

    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]


def report(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run's id or its beginning, `latest`, or a result.json.",
            autocompletion=completing.runs,
        ),
    ] = LATEST,
    *,
    format_name: Annotated[
        FormatName | None,
        typer.Option("--format", "-f", help="Absent: by the suffix of --output; without one, terminal."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there; absent: print it.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="In the terminal: every remark, and what columns mean.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
    store: StoreLocation = None,
) -> None:
    """Show a stored run again. As a table, JSON, CSV, Markdown or an HTML page.

    Measures nothing and needs no root.
    """
    from weir.report import format_named, render
    from weir.store.files import check_file, write_file

    if as_json and format_name not in (None, "json"):
        raise CommandError(f"--json and --format {format_name} contradict each other", USAGE)
    chosen = format_name or ("json" if as_json else _format_of(output))
    if verbose and chosen != "terminal":
        raise CommandError(f"--verbose is of the terminal's table: {chosen} has everything anyway", USAGE)
    if output is not None:
        check_file(output, "--output")
        writing("the report")  # of a large run it takes seconds even to read it
    result = stored(run, store)
    lacking = format_named(chosen).lacks(result)
    if lacking is not None:
        raise CommandError(f"run {result.id} cannot be shown as {chosen}: {lacking}", FAILED)
    if output is not None:
        text = _whole(result) if verbose else render(result, chosen)
        write_file(output, text, "choose another place with --output")
        print(f"wrote {output}")
    elif chosen == "terminal":
        _show(result, whole=verbose)
    else:
        print(render(result, chosen), end="")


def _format_of(output: Path | None) -> str:
    """What the file's suffix asks for."""
    from weir.report import formats

    if output is None:
        return "terminal"
    # The longest first: ".percentiles.csv" ends in ".csv" too.
    for known in sorted(formats().values(), key=lambda one: -len(one.suffix)):
        if output.name.endswith(known.suffix):
            return known.name
    suffixes = ", ".join(known.suffix for known in formats().values())
    raise CommandError(
        f"{output}: which format? Give --format, or a name that ends in one of {suffixes}", USAGE
    )


def _whole(result: Result) -> str:
    from weir.report import terminal

    return terminal.render(result, whole=True)


def _show(result: Result, *, whole: bool) -> None:
    from weir.report import terminal
    from weir.report.blocks import new_console

    terminal.show(result, new_console(), whole=whole)
