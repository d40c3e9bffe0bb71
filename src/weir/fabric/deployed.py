# SPDX-License-Identifier: Apache-2.0
"""A deployment, built for whoever needs it, and for as long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weir.base.cloud import CloudTopology
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.fabric.deployment import Deployment, OnEvent, ignore
from weir.plan import Step


@contextmanager
def deployed(
    steps: list[Step], about: Topology | CloudTopology, on_event: OnEvent = ignore, *, kept: bool = False
) -> Iterator[Deployment]:
    """Taken down after the body, however it ends; an error of it says then where the logs are. `kept`: it
    stays where the body ends well, until it is destroyed."""
    deployment = Deployment.deploy(steps, about, on_event)
    try:
        yield deployment
        if kept:
            deployment.keep()
            stop_signals.check()  # which has said already that all is taken down
    except BaseException as error:
        try:
            deployment.keep_logs(error)
        finally:
            deployment.destroy(on_event)
        raise
    if not kept:
        deployment.destroy()
