# SPDX-License-Identifier: Apache-2.0
"""Where a command runs in a cloud: an instance, a router, or the host outside."""

from __future__ import annotations

from pathlib import Path

from weir.base.cloud import OUTSIDE, CloudTopology
from weir.fabric.end_host_command import CommandPlace
from weir.plan.cloud import hosts_file, resolver_file


def in_cloud(topology: CloudTopology, run_dir: Path, host: str) -> CommandPlace:
    """`host`: one of the topology's `hosts()`. Instances see the names of their tenant's alone."""
    tenant = OUTSIDE if host == OUTSIDE else host.partition(".")[0]
    return CommandPlace(
        deployment=topology.deployment,
        name=host,
        netns=topology.namespace(host),
        hosts_file=run_dir / hosts_file(tenant),
        resolver_file=run_dir / resolver_file(),
        polled_cores=frozenset(),
    )
