# SPDX-License-Identifier: Apache-2.0
"""`weir model calibrate` and `weir model validate`: measure what functions cost here, and how far predictions
are off."""

from __future__ import annotations

import json
import math
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import (
    LabPath,
    Wait,
    machine_cpus,
    own_cores,
    own_cpus,
    require_packets,
    require_possible,
)
from weir.cli.model import ModelFile, load_model, require_technology
from weir.cli.quantities import SEED_MOST

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.variant import TechnologyName
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
    wait: Wait = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the trials, run none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the model as JSON.")] = False,
) -> None:
    """Measure what things cost here, for `weir model predict`. Functions, ports, rings, switch and cores.

    Plans the fewest trials that tell the costs of the lab's functions, whatever their order and architecture.
    """
    from weir.lab import load_lab
    from weir.planning.calibration import table
    from weir.planning.calibration.calibration import calibration
    from weir.store.model_file import check_model_place, default_model_path, write_model

    cpus = machine_cpus()
    lab = load_lab(lab_path, cpus=cpus)
    require_packets(lab, "a calibration")
    chosen = calibrated(lab, technology)
    if dry_run:
        planned = calibration(lab, cpus, trials, chosen, random)
        if as_json:
            found = {"trials": [trial.text() for trial in planned.trials], "drawn": planned.drawn}
            print(json.dumps(found, indent=2))
            return
        for trial in planned.trials:
            print(trial.text())
        if planned.drawn:
            print(f"and {planned.drawn} set-ups drawn at random")
        return
    path = model or default_model_path()
    require_possible(lab, chosen)
    check_model_place(path)
    with own_cpus(cpus, wait=wait):  # caches and memory are measured, too, which all cores share
        document = calibration(lab, cpus, trials, chosen, random).run(progress())
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


def progress(clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """Each step where somebody looks; in a log the first, and one a minute."""
    from weir.cli.progress import LOG_S

    said_s = -math.inf

    def say(text: str) -> None:
        nonlocal said_s
        if sys.stderr.isatty() or clock() - said_s >= LOG_S:
            print(text, file=sys.stderr, flush=True)
            said_s = clock()

    return say


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
            max=SEED_MOST,
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
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Predict set-ups, then measure them. The errors, and how many intervals held.

    Blind errors are of the calibration alone, conditional ones of the state of the machine that was found
    while measuring. Beside them stand those of the naive sum of stage costs.
    """
    from weir.planning.calibration import picture, table
    from weir.store.files import check_file, check_folder, write_file

    if bool(lab_paths) == (random is not None):
        raise CommandError("expected lab files, or --random N for set-ups that are drawn at random", USAGE)
    if random is None and (seed is not None or labs is not None):
        raise CommandError("--seed and --labs are of set-ups that are drawn: they need --random N", USAGE)
    if labs is not None:
        check_folder(labs, "--labs")
    if svg is not None:
        check_file(svg, "--svg")
    document = load_model(model)
    if random is None:
        found = _named(lab_paths or [], document, wait=wait)
    else:
        found = _drawn(random, seed, document, wait=wait)
    if labs is not None:
        _write_labs(found, labs)
    if svg is not None:
        write_file(svg, picture.picture(found), "choose another place with --svg")
    print(found.model_dump_json(indent=2) if as_json else table.render_validation(found))


def _named(paths: list[Path], document: ModelDocument, *, wait: bool) -> ModelValidation:
    from weir.lab import load_lab
    from weir.lab.load import LAB_FILE
    from weir.planning.calibration.validation import validate_labs
    from weir.procedures.driver import planned

    cpus = machine_cpus()
    labs = {(path / LAB_FILE if path.is_dir() else path): load_lab(path, cpus=cpus) for path in paths}
    for lab in labs.values():
        require_packets(lab, "weir model validate")
        require_technology(lab, document)
    for lab in labs.values():
        require_possible(lab, document.technology)
    topologies = [planned(lab, document.technology, chain) for lab in labs.values() for chain in lab.chains()]
    with own_cores(topologies, wait=wait):
        return validate_labs(labs, document, progress())


def _drawn(count: int, seed: int | None, document: ModelDocument, *, wait: bool) -> ModelValidation:
    """The seed is said before anything is measured, so that what fails can be drawn again."""
    from weir.fabric import require_root
    from weir.planning.calibration.calibration import SEED_BITS
    from weir.planning.calibration.validation import validate_random

    require_root()
    chosen = secrets.randbits(SEED_BITS) if seed is None else seed
    print(f"seed {chosen}", file=sys.stderr, flush=True)
    with own_cpus(machine_cpus(), wait=wait):
        return validate_random(document, machine_cpus(), count, chosen, progress())


def _write_labs(found: ModelValidation, folder: Path) -> None:
    from weir.store.files import write_file

    for number, case in enumerate(found.cases, 1):
        path = folder / f"random-{number}.yml"
        write_file(path, case.lab, "choose another place with --labs", folders=True)
