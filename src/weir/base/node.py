# SPDX-License-Identifier: Apache-2.0
"""Nodes of a topology: their ports, and what does their work: areas of weir-dp, a virtual machine, Linux or a
program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from weir.base.record import FixedRecord

STANDARD_FRAME_BYTES = 1518
"""Of an MTU of 1500 bytes, with FCS, without a VLAN tag: the longest frame that every port carries."""
MAX_FRAME_BYTES = 9216
"""The longest that Weir sends; likewise."""
Architecture = Literal["run-to-completion", "pipeline", "dispatch", "separated"]
"""How the functions of a node are spread over areas."""
WITH_WORKERS: frozenset[Architecture] = frozenset({"dispatch", "separated"})
"""Those that share flows out to workers."""
Forwarder = Literal["weir-dp", "kernel"]
"""What forwards in a virtual machine."""
GuestRole = Literal[Forwarder, "host"]
"""What a guest of Weir's own images is: a function that forwards so, or a host."""
Accelerator = Literal["auto", "kvm", "tcg"]
OffloadKind = Literal["none", "xdp", "rte_flow"]
"""Where entries of a fast path may live below the data plane."""
Side = Literal["left", "right"]
Direction = Literal["left-to-right", "right-to-left"]
"""Of traffic, from a side to the other one."""
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
    "elsewhere",
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
ELSEWHERE: PortKind = "elsewhere"
"""A port of a node that is on another host."""
PROGRAM_PEERS: Mapping[PortKind, PortKind] = {
    "program-virtio-user": "vhost",
    "program-vhost-user": "virtio-user",
    "program-memif": "memif",
}
"""Ports that a user's program opens at a socket; and what weir-dp opens at the other end of a wire."""
PROGRAM_DIRECTORY = "{}.run"
"""In the run directory, by node: what is a program's to make, its sockets among it."""
UNOPENED_PORT_KINDS: frozenset[PortKind] = (
    VM_PORT_KINDS | {HOST_PORT, ELSEWHERE, "veth"} | PROGRAM_PEERS.keys()
)
"""Ports that weir-dp outside never opens: those, and interfaces between which Linux forwards."""
ProgramPorts = Literal["interface", "virtio-user", "vhost-user", "memif", "any"]
"""How a user's program has its ports."""
FunctionKind = Literal["process", "vm", "kernel", "program", "container"]
"""What a function is: in the tester's weir-dp, a virtual machine, Linux, a user's program."""


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


class Offload(FixedRecord):
    """Entries of a fast path below the data plane, those of elephants first."""

    kind: OffloadKind
    flows: int
    """Most at each input."""
    packets: int
    """A flow's entry goes down once so many came within a quarter of a second."""


class Machine(FixedRecord):
    """The virtual machine that a function runs in."""

    forwarder: GuestRole | None
    """What runs the function; "host": nothing, it is an instance; None: an image of the user's."""
    image: str | None = None
    image_format: Literal["qcow2", "raw"] = "qcow2"
    user_data: str | None = None
    ready: str = ""
    """On the serial console of such an image, when it is up."""
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
        return {
            "weir-dp": "weir-dp",
            "kernel": "the guest's kernel",
            "host": "Weir's own guest",
            None: "an image of the user's",
        }[self.forwarder]


class KernelFunction(FixedRecord):
    """How Linux forwards in the network namespace that a function is."""

    addressing: Literal["routed", "none"]
    does: tuple[NodeNf, ...] = ()
    """Weir's functions that it does in their place, inside first."""
    counterpart: str | None = None
    """By what one of them; None: by routes, nftables and tc."""
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
    function: str = ""
    """As the lab calls it, which several of a chain may share; empty: no lab does, or an old result."""
    nf: str | None = None
    """Registered network function, or several joined by "+"; None for the tester."""
    options: dict[str, str | int | float | bool] = {}
    """Of the only one."""
    host: str = ""
    """Where it is, of a chain that spans hosts, as the lab calls it."""
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
    offload: Offload | None = None
    """Of its entries; None: they stay in it."""
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
    def has_workers(self) -> bool:
        """Its flows are shared out to them, be it a single one."""
        return self.architecture in WITH_WORKERS

    @property
    def in_weir_dp(self) -> bool:
        """The tester's own weir-dp runs it, or it is the tester."""
        return self.kind == "process"

    @property
    def in_namespace(self) -> bool:
        """Linux, or a program, does it in a network namespace of its own."""
        return self.kind in ("kernel", "program")


def is_jumbo(frame_bytes: int) -> bool:
    """Whether a frame, with FCS, without a VLAN tag, is longer than a standard one."""
    return frame_bytes > STANDARD_FRAME_BYTES
