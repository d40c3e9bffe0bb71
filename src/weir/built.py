# SPDX-License-Identifier: Apache-2.0
"""A chain that stands: deployed, its data plane configured and polling, for the body of a `with`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weir import fabric, plan
from weir.dataplane import DataPlaneClient
from weir.dataplane.messages import Hello
from weir.fabric import interrupts
from weir.plan.steps import SOCKET
from weir.spec import Lab
from weir.spec.topology import Topology


@contextmanager
def built(lab: Lab, topology: Topology) -> Iterator[tuple[fabric.Deployment, DataPlaneClient, Hello]]:
    """Built, configured and polling for the body; taken down after it, however it ends.

    Ctrl-C, held by the caller with `interrupts.held`, is let through in the body alone.
    """
    steps, _ = fabric.possible(plan.steps(topology, lab))
    deployment = fabric.Deployment.deploy(steps, topology)
    try:
        with interrupts.allowed(), DataPlaneClient(deployment.run_dir / SOCKET) as client:
            hello = client.hello()
            client.configure(
                plan.dataplane_config(topology, lab, str(deployment.run_dir), deployment.devices)
            )
            client.start()
            yield deployment, client, hello
    finally:
        deployment.destroy()
