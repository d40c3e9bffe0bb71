# SPDX-License-Identifier: Apache-2.0
"""The topology that a lab asks for: nodes, ports, networks and wires, left to right.

A chain of n functions has n + 1 *links*; link i joins the right port of node i to the left port of
node i + 1, where node 0 and node n + 1 are the two sides of the tester. Each link is either a *network*
of the switch technology (a bridge with exactly two ports) or, with ``direct``, a plain wire.
"""

from __future__ import annotations

from typing import Literal

from weir.base.record import FixedRecord

Architecture = Literal["run-to-completion", "pipeline", "dispatch", "separated"]
"""How the functions of a node are spread over areas."""
Forwarder = Literal["weir-dp", "kernel"]
"""What forwards in a virtual machine."""
Accelerator = Literal["auto", "kvm", "tcg"]
Side = Literal["left", "right"]
PortKind = Literal[
    "virtio-user",
    "vhost",
    "packet_socket",
    "af_packet",
    "af_xdp",
    "tap",
    "memory",
    "physical",
    "vm-tap",
    "vm-vhost-user",
]
KERNEL_PORT_KINDS: frozenset[PortKind] = frozenset({"packet_socket", "af_packet", "af_xdp", "tap"})
VM_PORT_KINDS: frozenset[PortKind] = frozenset({"vm-tap", "vm-vhost-user"})
"""Ports of virtual machines, which weir-dp outside them never opens."""
WireClass = Literal["virtual", "physical"]


class Port(FixedRecord):
    """One port of the tester or of a function, as weir-dp or a virtual machine sees it."""

    name: str
    """Node and side: "tester.left", "f1.right"."""
    node: str
    """The node that owns it: "tester", "f1"."""
    side: Side
    mac: str
    """Begins with 02:57: locally administered, unique in the topology."""
    kind: PortKind
    link: int
    """Index of the link that it is attached to."""
    netns: str | None = None
    """Network namespace that holds `interface`."""
    interface: str | None = None
    """Kernel interface (packet_socket, af_packet, af_xdp, tap, physical, vm-tap)."""
    socket: str | None = None
    """The vhost-user socket, relative to the run directory."""


class NodeNf(FixedRecord):
    """One network function of a node."""

    nf: str
    options: dict[str, str | int | float | bool] = {}


class Machine(FixedRecord):
    """The virtual machine that a function runs in."""

    forwarder: Forwarder | None
    """What runs the function; None: an image of the user's."""
    image: str | None = None
    user_data: str | None = None
    ready: str = ""
    """On the serial console of such an image, when it forwards."""
    vcpus: int
    memory_mb: int
    hugepages: bool
    queues: int
    accel: Accelerator
    boot_time_limit_s: float
    failover: bool = False
    """Each port is a failover pair, and a second QEMU waits for the machine to be migrated."""

    def title(self) -> str:
        """For people."""
        return {"weir-dp": "weir-dp", "kernel": "the guest's kernel", None: "an image of the user's"}[
            self.forwarder
        ]


class Node(FixedRecord):
    """The tester or one function."""

    name: str
    role: Literal["tester", "function"]
    nf: str | None = None
    """Registered network function, or several joined by "+"; None for the tester."""
    options: dict[str, str | int | float | bool] = {}
    """Of the only one."""
    cores: tuple[int, ...] = ()
    chain: tuple[NodeNf, ...] = ()
    """Its network functions, from the left port to the right."""
    inbound: tuple[int, ...] = ()
    """Which of them packets from the right pass, in their order."""
    both_ways: bool = False
    """Packets may leave by either port, wherever they came from: paths have the right port, then the left."""
    architecture: Architecture = "run-to-completion"
    workers: int = 1
    owners: int = 1
    fastpath_flows: int = 0
    """Room of each fast path; 0: none."""
    machine: Machine | None = None
    """Where it runs, if not in the tester's own weir-dp; `cores` are then the host's for its virtual CPUs."""


class Link(FixedRecord):
    """Link i of the chain: a network of the switch technology, or a wire."""

    index: int
    name: str
    """For a network "net0", for a wire "wire0"."""
    network: bool
    """True: a two-port bridge of the technology; False: a plain wire."""
    left: str
    """Name of the port at its left end."""
    right: str
    """Name of the port at its right end."""


class Topology(FixedRecord):
    """Everything that fabric and report need to know about one built chain."""

    lab: str
    deployment: str = ""  # "<lab>-<8 hex digits>", the owner of every resource
    technology: str
    chain: str
    """PVP, PVVP, or the function names joined by "-"."""
    nodes: tuple[Node, ...]
    """Tester first, then functions left to right."""
    ports: tuple[Port, ...]
    """Left to right."""
    links: tuple[Link, ...]
    switch_cores: tuple[int, ...] = ()
    wire: WireClass = "virtual"
    bridge_netfilter: bool | None = None
    """Whether bridged packets pass netfilter; None where there is no Linux bridge."""

    def port(self, name: str) -> Port:
        """The port of that name. KeyError if there is none."""
        for port in self.ports:
            if port.name == name:
                return port
        raise KeyError(name)

    def functions(self) -> tuple[Node, ...]:
        """The function nodes, left to right."""
        return tuple(node for node in self.nodes if node.role == "function")

    def machines(self) -> tuple[Node, ...]:
        """Of these, those in virtual machines."""
        return tuple(node for node in self.nodes if node.machine is not None)

    def processed(self) -> tuple[Node, ...]:
        """The others, which run in the tester's weir-dp."""
        return tuple(node for node in self.functions() if node.machine is None)
