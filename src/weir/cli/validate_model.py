# SPDX-License-Identifier: Apache-2.0
"""`weir validate-model`: measures set-ups that the model was not made of, and says how far off it is."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.calibrate import ModelFile, say
from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import machine_cpus, require_possible

if TYPE_CHECKING:
    from weir.results.model import ModelDocument, ModelValidation


def validate_model(
    lab_paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[LAB...]", help="Lab files: each chain with each frame size is one set-up."),
    ] = None,
    *,
    random: Annotated[
        int | None,
        typer.Option(
            "--random", metavar="N", min=1, max=10_000, help="In place of labs: N set-ups drawn at random."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="With --random: those of that seed again. Absent: from the system's entropy.",
        ),
    ] = None,
    labs: Annotated[
        Path | None,
        typer.Option("--labs", metavar="DIR", help="With --random: write the lab file of each set-up there."),
    ] = None,
    model: ModelFile = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw predicted against measured rates into this file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Predict set-ups, then measure them: the errors, and how many intervals held.

    Blind errors are of the calibration alone, conditional ones of the state of the machine that was found
    while measuring. Beside them stand those of the naive sum of stage costs.
    """
    from weir.cli.lab_model import model_here
    from weir.report import model_table, validation_picture

    if bool(lab_paths) == (random is not None):
        raise CommandError("expected lab files, or --random N for set-ups that are drawn at random", USAGE)
    if random is None and (seed is not None or labs is not None):
        raise CommandError("--seed and --labs are of set-ups that are drawn: they need --random N", USAGE)
    document = model_here(model)
    try:
        found = _named(lab_paths or [], document) if random is None else _drawn(random, seed, document)
    except ValueError as error:
        raise CommandError(f"{error}; calibrate a lab that has them", USAGE) from None
    if labs is not None:
        _write_labs(found, labs)
    if svg is not None:
        try:
            svg.write_text(validation_picture.picture(found), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{svg}: {error.strerror}; choose another file with --svg", USAGE) from None
    print(found.model_dump_json(indent=2) if as_json else model_table.render_validation(found))


def _named(paths: list[Path], document: ModelDocument) -> ModelValidation:
    from weir.cli.lab_model import require_technology
    from weir.jobs.validation import validate
    from weir.lab import load_lab
    from weir.lab.load import LAB_FILE

    cpus = machine_cpus()
    labs = {(path / LAB_FILE if path.is_dir() else path): load_lab(path, cpus=cpus) for path in paths}
    for lab in labs.values():
        require_technology(lab, document)
    for lab in labs.values():
        require_possible(lab, document.technology)
    return validate(labs, document, say)


def _drawn(count: int, seed: int | None, document: ModelDocument) -> ModelValidation:
    """The seed is said before anything is measured, so that what fails can be drawn again."""
    from weir.fabric import require_root
    from weir.jobs.calibration import SEED_BITS
    from weir.jobs.validation import validate_random

    require_root()
    chosen = secrets.randbits(SEED_BITS) if seed is None else seed
    print(f"seed {chosen}", file=sys.stderr, flush=True)
    return validate_random(document, machine_cpus(), count, chosen, say)


def _write_labs(found: ModelValidation, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, case in enumerate(found.cases, 1):
            (folder / f"random-{number}.yml").write_text(case.lab, encoding="utf-8")
    except OSError as error:
        raise CommandError(
            f"{folder}: {error.strerror}; choose another directory with --labs", USAGE
        ) from None
