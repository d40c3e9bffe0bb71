# SPDX-License-Identifier: Apache-2.0
"""`weir destroy`: take down what `weir deploy`, or a run that was killed, left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.deployments import DeploymentId, one_of
from weir.cli.exits import USAGE, CommandError


def destroy(
    deployment_id: DeploymentId = None,
    *,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Every deployment of Weir on this machine, also of runs in progress."),
    ] = False,
) -> None:
    """Take down a deployment: all that its journal says it made, and nothing else."""
    from weir import fabric

    if everything and deployment_id is not None:
        raise CommandError("--all and an ID contradict each other; give one of them", USAGE)
    found = fabric.deployments()
    if not found and deployment_id is None:
        print("nothing is deployed")
        return
    for deployment in found if everything else [one_of(found, deployment_id)]:
        deployment.destroy()
        print(f"{deployment.id} is gone")
