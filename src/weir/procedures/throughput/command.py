# SPDX-License-Identifier: Apache-2.0
"""`weir run`: the main job. Builds each chain under each technology, measures it, reports it."""

from __future__ import annotations

import typer

from weir.cli.exits import FAILED, INTERRUPTED
from weir.cli.labfile import LabPath, Quick, compared_here
from weir.cli.stored import ReportFolder, StoreLocation, write_reports


def run(
    lab_path: LabPath,
    *,
    quick: Quick = False,
    output: ReportFolder = None,
    store: StoreLocation = None,
) -> None:
    """Measure a lab: NDR, PDR and a loss curve for each technology, chain and frame size; then report."""
    from rich.console import Console

    from weir import fabric
    from weir.cli.progress import Progress
    from weir.procedures.campaign import Campaign
    from weir.store.store import Store

    console = Console(stderr=False, highlight=False)
    lab, compared = compared_here(lab_path, quick=quick)
    fabric.require_root()
    with Store(store) as database, Progress(console) as progress:
        campaign = Campaign(lab, compared, quick=quick, store=database, progress=progress)
        result = campaign.run()
    write_reports(result, output, {"html": "report", "json": "result", "csv": "throughput"}, console)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    cases = [case for _, case in result.cases()]
    found = any(one.status == "found" for case in cases for one in case.throughput)
    timed = any(trial.valid for case in cases for point in case.delays for trial in point.trials)
    if not found and (lab.measure.goals or not timed):
        raise typer.Exit(FAILED)
    verdicts = [one for _, case in result.cases() for one in case.verdicts]
    if not all(verdict.met for verdict in verdicts):
        raise typer.Exit(FAILED)
