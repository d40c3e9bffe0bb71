# SPDX-License-Identifier: Apache-2.0
"""Steps for functions in virtual machines: all are started, then each is waited for, configured, pinned."""

from __future__ import annotations

import json
from collections.abc import Iterator

from weir.base.node import Machine, Node, Port
from weir.base.step import Param, Step
from weir.base.topology import Topology, source_pair, switch_namespace, target, target_pair
from weir.lab.lab import Lab
from weir.plan.architecture import function_areas
from weir.plan.guest_steps import (
    GUESTS,
    PCI_SLOTS,
    GuestPort,
    how_large,
    ready_step,
    seed_step,
    start_step,
)
from weir.plan.memory import GUEST_QUEUE_SIZE, guest_mbufs, guest_memory_mb
from weir.plan.topology import PlanError, next_hop
from weir.protocol.configuration import Configure, PortConfig
from weir.protocol.errors import refusing

GUEST_SYSTEM_MB = 224  # what the guest's kernel and its files in memory take
_STALL_THRESHOLD_US = 1000  # in a guest the host's own stalls add to those of its kernel


def vm_steps(topology: Topology, lab: Lab) -> list[Step]:
    """In order; none without virtual machines. PlanError if one has too little memory."""
    nodes = topology.machines()
    if not nodes:
        return []
    plan = [GUESTS]
    plan += [
        _seed(topology, node) for node in nodes if node.machine is not None and node.machine.image is not None
    ]
    plan += [step for node in nodes for step in _starts(topology, node)]
    return [*plan, *(step for node in nodes for step in _readies(topology, lab, node))]


def guest_cores(vcpus: int) -> tuple[int, ...]:
    """CPUs of the guest on which its weir-dp polls: the first is left to the rest, where there is another."""
    return tuple(range(1, vcpus)) or (0,)


@refusing()
def guest_config(topology: Topology, node: Node) -> Configure:
    """Of the weir-dp in a virtual machine."""
    assert node.machine is not None
    inside = node.model_copy(update={"cores": guest_cores(node.machine.vcpus)})
    function = function_areas(topology, inside)
    return Configure(
        ports=tuple(_guest_port(topology.port(f"{node.name}.{side}")) for side in PCI_SLOTS),
        rings=tuple(function.rings),
        areas=tuple(function.areas),
        stall_threshold_us={str(core): _STALL_THRESHOLD_US for core in inside.cores},
        ledger=True,
        mbufs=guest_mbufs(node),
    )


def _guest_port(port: Port) -> PortConfig:
    return PortConfig(
        name=port.name,
        mac=port.mac,
        wire="virtual",
        rx_queue_size=GUEST_QUEUE_SIZE,
        tx_queue_size=GUEST_QUEUE_SIZE,
        devargs=f"0000:00:{PCI_SLOTS[port.side]:02x}.0",
    )


def _seed(topology: Topology, node: Node) -> Step:
    assert node.machine is not None
    addresses: dict[str, Param] = {}
    for side in PCI_SLOTS:
        port = topology.port(f"{node.name}.{side}")
        addresses |= {f"{side}_mac": port.mac, f"{side}_next_hop": next_hop(topology, port).mac}
    return seed_step(node.name, node.machine, addresses)


def _starts(topology: Topology, node: Node) -> Iterator[Step]:
    """One QEMU, or the one that the guest boots in and the one that it is migrated to."""
    assert node.machine is not None
    yield _start(topology, node, node.machine, incoming=False)
    if node.machine.failover:
        yield _start(topology, node, node.machine, incoming=True)


def _start(topology: Topology, node: Node, machine: Machine, *, incoming: bool) -> Step:
    ports = {}
    for side in PCI_SLOTS:
        port = topology.port(f"{node.name}.{side}")
        pair = target_pair(port) if incoming else source_pair(port)
        ports[side] = GuestPort(
            mac=port.mac,
            next_hop=next_hop(topology, port).mac,
            interface=pair.standby if port.interface else "",
            socket=port.socket or "",
            primary=pair.primary if machine.failover else "",
        )
    name = target(node.name) if incoming else node.name
    text = f"start virtual machine {name} with {how_large(machine)}, where {machine.title()} forwards"
    if incoming:
        text = f"start a second QEMU, {name}, to which {node.name} can be migrated"
    return start_step(
        name,
        machine,
        ports,
        text,
        netns=switch_namespace(topology),
        guest_memory_mb=_guest_memory_mb(node, machine),
        incoming=incoming,
    )


def _guest_memory_mb(node: Node, machine: Machine) -> int:
    """Of the weir-dp in it; 0: there is none."""
    if machine.forwarder != "weir-dp":
        return 0
    needed_mb = guest_memory_mb(node)
    if needed_mb + GUEST_SYSTEM_MB > machine.memory_mb:
        raise PlanError(
            f"{node.name} has {machine.memory_mb} MiB of memory, and its weir-dp needs {needed_mb} MiB beside"
            f" the guest's own {GUEST_SYSTEM_MB} MiB; expected vm.memory_mb:"
            f" {needed_mb + GUEST_SYSTEM_MB} or more"
        )
    return needed_mb


def _readies(topology: Topology, lab: Lab, node: Node) -> Iterator[Step]:
    machine = node.machine
    assert machine is not None
    config = ""
    if machine.forwarder == "weir-dp":
        config = json.dumps(guest_config(topology, node).arguments())
    pinned = list(node.cores) if lab.host.pinning else []
    cores = ", ".join(map(str, pinned))
    where = f", and pin it to core {cores}" if pinned else ""
    text = f"wait until {node.name} forwards{where}"
    yield ready_step(node.name, machine, pinned, text, configure=config)
    if machine.failover and pinned:
        second = target(node.name)
        text = f"pin {second} to core {cores}"
        yield ready_step(second, machine, pinned, text, configure=config, incoming=True)
