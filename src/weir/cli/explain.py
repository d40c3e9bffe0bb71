# SPDX-License-Identifier: Apache-2.0
"""`weir explain`: what limits a measured chain, and what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli import completing
from weir.cli.exits import USAGE, CommandError
from weir.cli.stored import LATEST, StoreLocation, stored

if TYPE_CHECKING:
    from weir.results.result import Result


def explain(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run's id or its beginning, `latest`, or a result.json.",
            autocompletion=completing.runs,
        ),
    ] = LATEST,
    *,
    technology: Annotated[
        str | None,
        typer.Option("--technology", "-t", help="Only that, or that variant; absent: all."),
    ] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="Only that; absent: all.")] = None,
    chain: Annotated[str | None, typer.Option("--chain", "-c", help="Only that; absent: all.")] = None,
    frame: Annotated[
        str | None, typer.Option("--frame", help="Only that, in bytes or as the lab says it; absent: all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
    store: StoreLocation = None,
) -> None:
    """Explain a stored run. What limits each chain, with its evidence, what is next, and what can help.

    Reads the result alone. Measures nothing and needs no root.
    """
    from weir.explain import CaseFilter, text
    from weir.explain import explain as explained
    from weir.lab.frames import canonical
    from weir.report.blocks import new_console

    result = stored(run, store)
    if technology is not None and variant is not None:
        raise CommandError("--technology and --variant name the same; expected one of them", USAGE)
    named = None if frame is None else canonical(frame)
    found = explained(result, CaseFilter(technology or variant, chain, named))
    if not found.cases:
        raise CommandError(_nothing(result), USAGE)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        text.show(found, new_console())


def _nothing(result: Result) -> str:
    """What to say where no case is left."""
    from weir.lab.frames import frame_label

    known = [f"{setup.title} {frame_label(case.frame)}" for setup, case in result.cases()]
    if known:
        return f"{result.id} has no such case; it has {', '.join(known)}"
    refused = [f"{setup.title}: {setup.refused}" for setup in result.setups if setup.refused]
    why = f": {'; '.join(refused)}" if refused else ""
    return f"{result.id} measured nothing that could be explained{why}"
