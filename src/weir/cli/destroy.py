# SPDX-License-Identifier: Apache-2.0
"""`weir destroy`: take down what `weir deploy`, or a run that was killed, left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.deployments import DeploymentId, one_of
from weir.cli.exits import ENVIRONMENT, USAGE, CommandError


def destroy(
    deployment_id: DeploymentId = None,
    *,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Every deployment of Weir on this machine that no running weir works on."),
    ] = False,
) -> None:
    """Take down a deployment. All that its journal says it made, and nothing else."""
    from weir import fabric
    from weir.fabric import stop_signals

    if everything and deployment_id is not None:
        raise CommandError("--all and an ID contradict each other; give one of them", USAGE)
    found = fabric.deployments()
    if not found and deployment_id is None:
        _remove_remains()
        print("nothing is deployed")
        return
    standing = []
    for deployment in found if everything else [one_of(found, deployment_id)]:
        with stop_signals.held():  # what came meanwhile ends this only when it is said what is gone
            try:
                deployment.destroy()
            except fabric.FabricError as error:
                standing.append(str(error))
            else:
                print(f"{deployment.id} is gone", flush=True)
    if everything:
        _remove_remains()
    if standing:
        raise CommandError("\n".join(standing), ENVIRONMENT)


def _remove_remains() -> None:
    from weir import fabric

    for one in fabric.remove_remains():
        print(f"removed {one}, which a killed weir had left")
