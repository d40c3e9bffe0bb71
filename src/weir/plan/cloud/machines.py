# SPDX-License-Identifier: Apache-2.0
"""Steps for instances that are virtual machines: a tap at the node, where others have a veth pair."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import MTU_BYTES, CloudTopology, Instance, Network
from weir.base.step import Step
from weir.plan.cloud.names import HOST_INTERFACE, InstancePort
from weir.plan.guest_steps import GUESTS, GuestPort, how_large, ready_step, seed_step, start_step


def machine_port_step(topology: CloudTopology, network: Network, instance: Instance) -> Step:
    """The tap, which filters and switches then take for the instance's interface."""
    tap = InstancePort.of(network, instance).tap
    netns = topology.namespace(instance.node)
    return Step(
        kind="tap",
        name=f"tap:{netns}.{tap}",
        params={"netns": netns, "interface": tap, "queues": 1, "mtu_bytes": MTU_BYTES},
        text=f"make tap interface {tap} in {netns}",
        undo_text=f"delete tap interface {tap}",
    )


def machine_start_steps(topology: CloudTopology) -> Iterator[Step]:
    """They boot side by side, once their networks carry packets."""
    machines = topology.machines()
    if machines:
        yield GUESTS
    for _, instance, machine in machines:
        if machine.image is not None:
            yield seed_step(instance.name, machine, {f"{HOST_INTERFACE}_mac": instance.mac})
    for network, instance, machine in machines:
        tap = InstancePort.of(network, instance).tap
        yield start_step(
            instance.name,
            machine,
            {HOST_INTERFACE: GuestPort(instance.mac, interface=tap)},
            f"start virtual machine {instance.name} with {how_large(machine)}: {machine.title()}",
            netns=topology.namespace(instance.node),
        )


def machine_ready_steps(topology: CloudTopology) -> Iterator[Step]:
    """Each is up, and has got its address by DHCP, as the server says."""
    machines = topology.machines()
    cores = topology.outside_cores()
    for _, instance, machine in machines:
        yield ready_step(instance.name, machine, cores, f"wait until {instance.name} is up")
    if machines:
        yield Step(
            kind="guest-leases",
            name="guest-leases",
            params={
                "nodes": [one.name for _, one, _ in machines],
                "networks": [of.name for of, _, _ in machines],
                "expected": [f"{one.mac} {one.address}" for _, one, _ in machines],
                "time_limit_ms": max(round(one.boot_time_limit_s * 1000) for _, _, one in machines),
            },
            text=f"wait until {len(machines)} virtual machines have got their addresses by DHCP",
            undo_text="",
        )
