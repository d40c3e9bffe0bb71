# SPDX-License-Identifier: Apache-2.0
"""`weir validate-model`: measures set-ups that the model was not made of, and says how far off it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.calibrate import ModelFile, say
from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import machine_cpus, require_possible


def validate_model(
    lab_paths: Annotated[
        list[Path],
        typer.Argument(metavar="LAB...", help="Lab files: each chain with each frame size is one set-up."),
    ],
    *,
    model: ModelFile = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw predicted against measured rates into this file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Predict set-ups, then measure them: the errors, and how many intervals held.

    Beside each error stands that of the naive sum of stage costs.
    """
    from weir.cli.lab_model import model_here, require_technology
    from weir.jobs.validation import validate
    from weir.report import model_table, validation_picture
    from weir.spec import load_lab

    cpus = machine_cpus()
    labs = [load_lab(path, cpus=cpus) for path in lab_paths]
    document = model_here(model)
    for lab in labs:
        require_technology(lab, document)
    for lab in labs:
        require_possible(lab, document.technology)
    try:
        found = validate(labs, document, say)
    except ValueError as error:
        raise CommandError(f"{error}; calibrate a lab that has them", USAGE) from None
    if svg is not None:
        try:
            svg.write_text(validation_picture.picture(found), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{svg}: {error.strerror}; choose another file with --svg", USAGE) from None
    print(found.model_dump_json(indent=2) if as_json else model_table.render_validation(found))
