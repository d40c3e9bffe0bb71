# SPDX-License-Identifier: Apache-2.0
"""The topology that a lab asks for: nodes, ports, networks and wires, left to right.

A chain of n functions has n + 1 *links*; link i joins the right port of node i to the left port of
node i + 1, where node 0 and node n + 1 are the two sides of the tester. Each link is either a *network*
of the switch technology (a bridge with exactly two ports) or, with ``direct``, a plain wire.

Names of what a deployment makes all have its token, so that nothing else is ever taken down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from weir.base.record import FixedRecord

STANDARD_FRAME_BYTES = 1518
"""Of an MTU of 1500 bytes, with FCS, without a VLAN tag: the longest frame that every port carries."""
MAX_FRAME_BYTES = 9216
"""The longest that Weir sends; likewise."""

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
    "memif",
    "physical",
    "vm-tap",
    "vm-vhost-user",
    "host",
    "veth",
    "program-virtio-user",
    "program-vhost-user",
    "program-memif",
]
UNFINISHED_REFUSED: frozenset[PortKind] = frozenset({"af_packet", "af_xdp"})
"""Ports that weir-dp opens only where nothing is left to a network card: their drivers finish no frames."""
KERNEL_PORT_KINDS: frozenset[PortKind] = frozenset({"packet_socket", "af_packet", "af_xdp", "tap"})
VM_PORT_KINDS: frozenset[PortKind] = frozenset({"vm-tap", "vm-vhost-user"})
"""Ports of virtual machines, which weir-dp outside them never opens."""
GUESTS = "guests"
"""In the run directory: the sockets of virtual machines, which are QEMU's to make."""
HOST_PORT: PortKind = "host"
"""An interface of an end host's kernel."""
PROGRAM_PEERS: Mapping[PortKind, PortKind] = {
    "program-virtio-user": "vhost",
    "program-vhost-user": "virtio-user",
    "program-memif": "memif",
}
"""Ports that a user's program opens at a socket; and what weir-dp opens at the other end of a wire."""
PROGRAM_DIRECTORY = "{}.run"
"""In the run directory, by node: what is a program's to make, its sockets among it."""
UNOPENED_PORT_KINDS: frozenset[PortKind] = VM_PORT_KINDS | {HOST_PORT, "veth"} | PROGRAM_PEERS.keys()
"""Ports that weir-dp outside never opens: those, and interfaces between which Linux forwards."""
ProgramPorts = Literal["interface", "virtio-user", "vhost-user", "memif", "any"]
"""How a user's program has its ports."""
FunctionKind = Literal["process", "vm", "kernel", "program", "container"]
"""What a function is: in the tester's weir-dp, a virtual machine, Linux, a user's program."""
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
    """Kernel interface (packet_socket, af_packet, af_xdp, tap, physical, vm-tap, host, veth)."""
    socket: str | None = None
    """The vhost-user or memif socket, relative to the run directory."""


class NodeNf(FixedRecord):
    """One network function of a node."""

    nf: str
    options: dict[str, str | int | float | bool] = {}


class Machine(FixedRecord):
    """The virtual machine that a function runs in."""

    forwarder: Forwarder | None
    """What runs the function; None: an image of the user's."""
    image: str | None = None
    image_format: Literal["qcow2", "raw"] = "qcow2"
    user_data: str | None = None
    ready: str = ""
    """On the serial console of such an image, when it forwards."""
    vcpus: int
    memory_mb: int
    hugepages: bool
    queues: int
    accel: Accelerator
    boot_time_limit_s: float
    overlay_mb: int = 4096
    """Most that its guest may write beside such an image."""
    failover: bool = False
    """Each port is a failover pair, and a second QEMU waits for the machine to be migrated."""

    def title(self) -> str:
        """For people."""
        return {"weir-dp": "weir-dp", "kernel": "the guest's kernel", None: "an image of the user's"}[
            self.forwarder
        ]


class KernelFunction(FixedRecord):
    """How Linux forwards in the network namespace that a function is."""

    addressing: Literal["routed", "none"]
    does: tuple[NodeNf, ...] = ()
    """Weir's functions that it does in their place, inside first."""
    sysctls: dict[str, int | str] = {}
    commands: tuple[tuple[str, ...], ...] = ()
    """Words of each, with names in braces for what is chosen when it is planned."""
    commands_time_limit_s: float
    directory: str
    """Where they run."""
    drop_counters: tuple[str, ...] = ()
    """Of nftables: family, table, name."""
    rps: bool
    """The kernel takes what comes in on the node's cores, not on the sender's."""


class ContainerBundle(FixedRecord):
    """The OCI bundle that a program runs in."""

    bundle: str
    """Its directory."""
    runtime: str | None = None
    """What runs it; None: what there is."""


class ProgramFunction(FixedRecord):
    """The program that a function is, in a network namespace."""

    container: ContainerBundle | None = None
    command: tuple[str, ...]
    """Its words, with names in braces for what is chosen later; so have `commands` and `files`. None: as its
    container says."""
    commands: tuple[tuple[str, ...], ...] = ()
    commands_time_limit_s: float
    files: dict[str, str] = {}
    environment: dict[str, str] = {}
    directory: str
    ready: str | None
    ready_time_limit_s: float
    user: str | None
    stop_signal: str
    stop_time_limit_s: float
    output_mb: int
    memory_limit_mb: int | None = None
    """None: half of what is available when it is started."""
    processes: int = 1024
    ports: ProgramPorts = "interface"
    memory_mb: int = 0
    """Of the environment that DPDK makes for it, where its command names that."""
    ready_socket: str | None = None
    ready_packets: bool = False
    """Packets come through the chain first."""
    counterpart: str | None = None
    """The program that it is as one of Weir's functions: then `command` is made when it is planned."""
    does: tuple[NodeNf, ...] = ()
    """That function, and its options."""


class Node(FixedRecord):
    """The tester or one function."""

    name: str
    role: Literal["tester", "hosts", "function"]
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
    state_cores: int = 1
    fastpath_flows: int = 0
    """Room of each fast path; 0: none."""
    machine: Machine | None = None
    """Where it runs, if not in the tester's own weir-dp; `cores` are then the host's for its virtual CPUs."""
    kernel: KernelFunction | None = None
    """How Linux does its work, in a namespace; `cores` are then those of receive packet steering."""
    program: ProgramFunction | None = None
    """What does it, in a namespace, on `cores`."""

    @property
    def kind(self) -> FunctionKind:
        """What it is; the tester is a process, and a program is one in a container too."""
        if self.machine is not None:
            return "vm"
        if self.kernel is not None:
            return "kernel"
        return "process" if self.program is None else "program"

    @property
    def in_weir_dp(self) -> bool:
        """The tester's own weir-dp runs it, or it is the tester."""
        return self.kind == "process"

    @property
    def in_namespace(self) -> bool:
        """Linux, or a program, does it in a network namespace of its own."""
        return self.kind in ("kernel", "program")


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


class Neighbour(FixedRecord):
    """An entry of a host's neighbour table that is not resolved but given."""

    address: str
    mac: str


class EndHost(FixedRecord):
    """A host with a TCP/IP stack of its own at one end of the chain, in place of the tester."""

    side: Side
    """Its name, too."""
    port: str
    addresses: tuple[str, ...]
    """One of each version of IP that the whole chain carries, IPv4 first."""
    peers: tuple[str, ...]
    """Of the same versions: the addresses which all else is routed by. The nearest router's, where it has
    one in the host's network, else the other end's."""
    reached: tuple[str, ...]
    """Of the same versions: what reaches the other end from here, where functions translate addresses."""
    neighbours: tuple[Neighbour, ...] = ()
    """Of each peer, where a function does not carry ARP or Neighbor Discovery; none: they are resolved."""
    neighbours_because: str = ""
    """Which function does not."""
    no_address_because: str = ""
    """Which function drops the version of IP of which there is no address; none: both have one."""


class Topology(FixedRecord):
    """Everything that fabric and report need to know about one built chain."""

    lab: str
    deployment: str = ""  # "<lab>-<8 hex digits>", the owner of every resource
    technology: str
    chain: str
    """PVP, PVVP, or the function names joined by "-"."""
    nodes: tuple[Node, ...]
    """Tester, or hosts, first, then functions left to right."""
    ports: tuple[Port, ...]
    """Left to right."""
    links: tuple[Link, ...]
    switch_cores: tuple[int, ...] = ()
    wire: WireClass = "virtual"
    frame_bytes_max: int = STANDARD_FRAME_BYTES
    """The largest frame that it is to carry, with FCS, without a VLAN tag."""
    bridge_netfilter: bool | None = None
    """Whether bridged packets pass netfilter; None where there is no Linux bridge."""
    end_hosts: tuple[EndHost, ...] = ()
    """The left one and the right one; none where the tester is at the ends."""

    @property
    def jumbo(self) -> bool:
        """Whether it is to carry frames above the standard length."""
        return is_jumbo(self.frame_bytes_max)

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

    def namespaced(self) -> tuple[Node, ...]:
        """Of these, those that Linux or a program does in a namespace."""
        return tuple(node for node in self.nodes if node.in_namespace)

    def namespace_of(self, node: Node) -> str:
        """The network namespace of a function that has one of its own."""
        return namespace(token_of(self.deployment), node.name)

    def by_socket(self, node: Node) -> bool:
        """Whether its ports are a program's at sockets."""
        return any(port.kind in PROGRAM_PEERS for port in self.ports if port.node == node.name)

    def working_cores(self) -> set[int]:
        """On which something of it works."""
        return {core for node in self.nodes for core in node.cores} | set(self.switch_cores)

    def outside_cores(self) -> tuple[int, ...]:
        """On which a switch, Linux, a program or a virtual machine works, each once."""
        there = (core for node in self.functions() if not node.in_weir_dp for core in node.cores)
        return tuple(dict.fromkeys((*self.switch_cores, *there)))

    def processed(self) -> tuple[Node, ...]:
        """The others, which run in the tester's weir-dp."""
        return tuple(node for node in self.functions() if node.in_weir_dp)


def is_jumbo(frame_bytes: int) -> bool:
    """Whether a frame, with FCS, without a VLAN tag, is longer than a standard one."""
    return frame_bytes > STANDARD_FRAME_BYTES


_DEPLOYMENT = re.compile(r"(?P<lab>[a-z][a-z0-9-]{0,31})-(?P<token>[0-9a-f]{8})")


def deployment_id(lab_name: str, token: str) -> str:
    """The name of a deployment. `token`: 8 hex digits that no other deployment on the machine has."""
    name = f"{lab_name}-{token}"
    token_of(name)
    return name


def token_of(deployment: str) -> str:
    """Of a deployment. ValueError if that is no name of one."""
    match = _DEPLOYMENT.fullmatch(deployment)
    if match is None:
        raise ValueError(f"not a deployment id: {deployment!r}; expected <lab>-<8 hex digits>")
    return match["token"]


def namespace(token: str, suffix: str) -> str:
    """A network namespace: "t" for the tester, "sw" for the switch, a function's name, a host's side."""
    return f"weir-{token}-{suffix}"


def switch_namespace(topology: Topology) -> str:
    """The network namespace of the switch."""
    return namespace(token_of(topology.deployment), "sw")


def mac(token: str, node: int, side: Side) -> str:
    """02:57 (locally administered, W), two bytes of the deployment, the node, the side."""
    return f"02:57:{token[0:2]}:{token[2:4]}:{node:02x}:{'00' if side == 'left' else '01'}"


_PRIMARY, _TARGET = ".p", ".to"


@dataclass(frozen=True)
class Pair:
    """Tap interfaces of one port in one QEMU, where a virtual machine is migrated under load.

    A pair is a virtio device, the stand-by, and a card that the guest drives itself, the primary, which no
    migration can take along. Both have the port's MAC address; the guest's kernel (net_failover) shows them
    as one interface and uses the primary while it is there. At the network of port f1.left are four tap
    interfaces: f1.left for the stand-by and f1.left.p for the primary, f1.left.to and f1.left.to.p for those
    of the second QEMU. None of them is flooded: each packet is at one of them, and so is counted once.
    """

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
