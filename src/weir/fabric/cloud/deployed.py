# SPDX-License-Identifier: Apache-2.0
"""A cloud, or a tester at one, built for whoever needs it, and for as long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weir.base.cloud import CloudTopology
from weir.base.topology import Topology
from weir.fabric.deployed import deployed
from weir.fabric.deployment import Deployment, OnEvent, ignore
from weir.fabric.process import allow_all_descriptors
from weir.plan import Step


@contextmanager
def deployed_cloud(
    steps: list[Step], topology: CloudTopology | Topology, on_event: OnEvent = ignore, *, kept: bool = False
) -> Iterator[Deployment]:
    """As `deployed`, for as many namespaces as a cloud has."""
    allow_all_descriptors()
    with deployed(steps, topology, on_event, kept=kept) as deployment:
        yield deployment
