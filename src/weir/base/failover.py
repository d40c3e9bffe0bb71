# SPDX-License-Identifier: Apache-2.0
"""A virtual machine that is migrated under load: a failover pair for each port, and a second QEMU.

A pair is a virtio device, the stand-by, and a card that the guest drives itself, the primary, which no
migration can take along. Both have the port's MAC address; the guest's kernel (net_failover) shows them as
one interface and uses the primary while it is there. At the network of port f1.left are four tap interfaces:
f1.left for the stand-by and f1.left.p for the primary, f1.left.to and f1.left.to.p for those of the second
QEMU. None of them is flooded: each packet is at one of them, and so is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.base.topology import Port, Topology

_PRIMARY, _TARGET = ".p", ".to"


@dataclass(frozen=True)
class Pair:
    """Tap interfaces of one port in one QEMU."""

    standby: str
    primary: str


def target(node: str) -> str:
    """What the second QEMU of a node is called."""
    return node + _TARGET


def source_pair(port: Port) -> Pair:
    """In the QEMU that the guest boots in."""
    return Pair(port.name, port.name + _PRIMARY)


def target_pair(port: Port) -> Pair:
    """In the one that it is migrated to."""
    name = port.name + _TARGET
    return Pair(name, name + _PRIMARY)


def taps(topology: Topology, port: Port) -> tuple[str, ...]:
    """All tap interfaces of a virtual machine's port: one, or four."""
    machine = next(node.machine for node in topology.machines() if node.name == port.node)
    if machine is None or not machine.failover:
        return (port.name,)
    pairs = source_pair(port), target_pair(port)
    return tuple(name for pair in pairs for name in (pair.standby, pair.primary))


def migratable(topology: Topology, name: str) -> Topology:
    """The same, with that virtual machine ready to be migrated. ValueError if the node is none."""
    node = next((one for one in topology.machines() if one.name == name), None)
    if node is None or node.machine is None:
        raise ValueError(f"{name} is no virtual machine")
    ready = node.model_copy(update={"machine": node.machine.model_copy(update={"failover": True})})
    return topology.model_copy(
        update={"nodes": tuple(ready if one.name == name else one for one in topology.nodes)}
    )
