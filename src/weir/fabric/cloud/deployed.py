# SPDX-License-Identifier: Apache-2.0
"""A cloud, or a tester at one, built for whoever needs it, and for as long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weir.base.cloud import CloudTopology
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.fabric.deployment import Deployment, OnEvent, ignore
from weir.fabric.process import allow_all_descriptors
from weir.plan import Step


@contextmanager
def deployed_cloud(
    steps: list[Step], topology: CloudTopology | Topology, on_event: OnEvent = ignore, *, kept: bool = False
) -> Iterator[Deployment]:
    """Taken down after the body, however it ends; an error of it says then where the logs are. `kept`: it
    stays where the body ends well, until it is destroyed."""
    allow_all_descriptors()
    deployment = Deployment.deploy(steps, topology, on_event)
    try:
        yield deployment
        if kept:
            deployment.keep()
            stop_signals.check()
    except BaseException as error:
        try:
            deployment.keep_logs(error)
        finally:
            deployment.destroy()
        raise
    if not kept:
        deployment.destroy()
