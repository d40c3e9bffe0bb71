# SPDX-License-Identifier: Apache-2.0
"""Steps for the system in an instance: what it may take of this host, and its first process."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import CloudTopology, Instance, InstanceSystem, Network
from weir.base.step import Step
from weir.plan.cloud.names import hosts_file, resolver_file
from weir.plan.function_steps import control_group_step


def system_steps(
    topology: CloudTopology, network: Network, instance: Instance, system: InstanceSystem
) -> Iterator[Step]:
    """Two."""
    netns = topology.namespace(instance.name)
    yield control_group_step(
        instance.name, netns, memory_limit_mb=system.memory_limit_mb, processes=system.processes
    )
    yield Step(
        kind="instance-system",
        name=f"instance-system:{instance.name}",
        params={
            "netns": netns,
            "instance": instance.name,
            "ssh_keys": system.ssh_keys,
            "user_data": system.user_data,
            "hosts_file": hosts_file(network.name),
            "resolver_file": resolver_file(),
        },
        text=f"start the system of {instance.name}",
        undo_text=f"end the system of {instance.name}",
    )
