# SPDX-License-Identifier: Apache-2.0
"""`weir model calibrate` and `weir model validate`: measure what functions cost here, and how far predictions
are off."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import LabPath, machine_cpus, require_possible
from weir.cli.model import ModelFile, load_model, require_technology

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.technology import TechnologyName
    from weir.results.model import ModelDocument, ModelValidation


def calibrate(
    lab_path: LabPath,
    *,
    model: ModelFile = None,
    trials: Annotated[
        int, typer.Option("--trials", min=3, max=100, help="Most trials; fewer where fewer tell as much.")
    ] = 24,
    random: Annotated[
        int | None,
        typer.Option(
            "--random",
            min=0,
            max=1000,
            help="Set-ups drawn at random besides: they tell how far off predictions are. Absent: 30; none "
            "behind a switch.",
        ),
    ] = None,
    technology: Annotated[
        str | None,
        typer.Option(
            "--technology",
            "-t",
            help="One of the lab's; absent: direct if it is among them, else the first that the model knows.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the trials, run none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the model as JSON.")] = False,
) -> None:
    """Measure what functions, ports, rings, switch and cores cost here; store it for `weir model predict`.

    Plans the fewest trials that tell the costs of the lab's functions, whatever their order and architecture.
    """
    from weir.lab import load_lab
    from weir.planning.calibration import table
    from weir.planning.calibration.calibration import calibration
    from weir.store.model_file import default_model_path, write_model

    cpus = machine_cpus()
    lab = load_lab(lab_path, cpus=cpus)
    chosen = calibrated(lab, technology)
    if not dry_run:
        require_possible(lab, chosen)
    planned = calibration(lab, cpus, trials, chosen, random)
    if dry_run:
        for trial in planned.trials:
            print(trial.text())
        if planned.drawn:
            print(f"and {planned.drawn} set-ups drawn at random")
        return
    document = planned.run(say)
    path = model or default_model_path()
    write_model(document, path)
    print(document.model_dump_json(indent=2) if as_json else table.render(document, str(path)))


def calibrated(lab: Lab, asked: str | None) -> TechnologyName:
    """What the model will be of. CommandError if the lab has none that can be."""
    from weir.plan.switch_areas import MODELLED

    known = [name for name in lab.technology if name in MODELLED]
    if asked is None and known:
        return "direct" if "direct" in known else known[0]
    for name in known:
        if name == asked:
            return name
    said = f"--technology {asked}: " if asked is not None else ""
    raise CommandError(
        f"{said}the lab has {', '.join(lab.technology)}; expected one of these that is among "
        f"{', '.join(MODELLED)}",
        USAGE,
    )


def say(text: str) -> None:
    """Progress, where somebody looks."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


def validate(
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
    from weir.planning.calibration import picture, table

    if bool(lab_paths) == (random is not None):
        raise CommandError("expected lab files, or --random N for set-ups that are drawn at random", USAGE)
    if random is None and (seed is not None or labs is not None):
        raise CommandError("--seed and --labs are of set-ups that are drawn: they need --random N", USAGE)
    document = load_model(model)
    found = _named(lab_paths or [], document) if random is None else _drawn(random, seed, document)
    if labs is not None:
        _write_labs(found, labs)
    if svg is not None:
        try:
            svg.write_text(picture.picture(found), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{svg}: {error.strerror}; choose another file with --svg", USAGE) from None
    print(found.model_dump_json(indent=2) if as_json else table.render_validation(found))


def _named(paths: list[Path], document: ModelDocument) -> ModelValidation:
    from weir.lab import load_lab
    from weir.lab.load import LAB_FILE
    from weir.planning.calibration.validation import validate_labs

    cpus = machine_cpus()
    labs = {(path / LAB_FILE if path.is_dir() else path): load_lab(path, cpus=cpus) for path in paths}
    for lab in labs.values():
        require_technology(lab, document)
    for lab in labs.values():
        require_possible(lab, document.technology)
    return validate_labs(labs, document, say)


def _drawn(count: int, seed: int | None, document: ModelDocument) -> ModelValidation:
    """The seed is said before anything is measured, so that what fails can be drawn again."""
    from weir.fabric import require_root
    from weir.planning.calibration.calibration import SEED_BITS
    from weir.planning.calibration.validation import validate_random

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
