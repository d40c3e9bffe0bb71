# SPDX-License-Identifier: Apache-2.0
"""`weir calibrate`: measures what a lab's functions cost on this machine, for predictions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import LabPath, machine_cpus, require_possible

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.technology import TechnologyName

ModelFile = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="The model; absent: $WEIR_MODEL, or in the data directory."),
]


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
    """Measure what functions, ports, rings, switch and cores cost here; store it for `weir predict LAB`.

    Plans the fewest trials that tell the costs of the lab's functions, whatever their order and architecture.
    """
    from weir.jobs.calibration import calibration
    from weir.lab import load_lab
    from weir.report import model_table
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
    print(document.model_dump_json(indent=2) if as_json else model_table.render(document, str(path)))


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
