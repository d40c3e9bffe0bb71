# SPDX-License-Identifier: Apache-2.0
"""`weir calibrate`: measures what a lab's functions cost on this machine, for predictions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from weir.cli.labfile import LabPath, machine_cpus

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
    ] = 15,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the trials, run none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the model as JSON.")] = False,
) -> None:
    """Measure what functions, ports, rings and cores cost here; store the model for `weir predict LAB`.

    Plans the fewest trials that tell the costs of the lab's functions, whatever their order and architecture.
    """
    from weir import fabric
    from weir.calibration import calibration
    from weir.report import model_table
    from weir.spec import load_lab
    from weir.store.model import default_model_path, write_model

    cpus = machine_cpus()
    lab = load_lab(lab_path, cpus=cpus)
    if not dry_run:
        fabric.require_root()
    planned = calibration(lab, cpus, trials)
    if dry_run:
        for trial in planned.trials:
            print(trial.text())
        return
    document = planned.run(say)
    path = model or default_model_path()
    write_model(document, path)
    print(document.model_dump_json(indent=2) if as_json else model_table.render(document, str(path)))


def say(text: str) -> None:
    """Progress, where somebody looks."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)
