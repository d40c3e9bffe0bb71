# SPDX-License-Identifier: Apache-2.0
"""A chain that stands: deployed, its data plane configured and polling, for the body of a `with`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weir import fabric, plan
from weir.dataplane import DataPlaneClient, DataPlaneError
from weir.dataplane.messages import Hello
from weir.fabric import interrupts
from weir.fabric.listening import log_end
from weir.plan.steps import LOG, SOCKET
from weir.spec import Lab
from weir.spec.topology import Topology

DRIVERS_LINES = 8  # what DPDK adds comes after the driver's own words


@contextmanager
def built(lab: Lab, topology: Topology) -> Iterator[tuple[fabric.Deployment, DataPlaneClient, Hello]]:
    """Built, configured and polling for the body; taken down after it, however it ends.

    Ctrl-C, held by the caller with `interrupts.held`, is let through in the body alone.
    """
    steps, _ = fabric.possible(plan.steps(topology, lab))
    deployment = fabric.Deployment.deploy(steps, topology)
    try:
        with interrupts.allowed(), DataPlaneClient(deployment.run_dir / SOCKET) as client:
            yield deployment, client, configured(client, lab, topology, deployment)
    finally:
        deployment.destroy()


def configured(client: DataPlaneClient, lab: Lab, topology: Topology, deployment: fabric.Deployment) -> Hello:
    """Opens the ports of a deployment that stands, and lets the loops poll.

    DataPlaneError; of a port with the end of weir-dp's log, where the driver says why: it goes with the rest.
    """
    hello = client.hello()
    try:
        client.configure(plan.dataplane_config(topology, lab, str(deployment.run_dir), deployment.devices))
    except DataPlaneError as error:
        if error.code != "port_failed":
            raise
        said = log_end(deployment.run_dir / LOG, DRIVERS_LINES)
        raise DataPlaneError(
            error.code,
            error.message,
            where=error.where,
            expected=error.expected,
            fix=f"weir-dp's log ends with: {said}",
        ) from error
    client.start()
    return hello
