# SPDX-License-Identifier: Apache-2.0
"""What Weir knows of a technology that joins the ports of a chain. One module each describes one; the rest
of Weir asks the descriptor, and names no technology."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from weir.base.cores import Cores
from weir.base.error import WeirError
from weir.base.node import PortKind, ProgramPorts
from weir.base.record import LabSection
from weir.base.step import Step
from weir.base.topology import Topology

QueueSize = Literal[256, 512, 1024, 2048, 4096, 8192]
QUEUE = "descriptors of each virtio ring; small rings lose packets when the host stalls a core"
AGEING_S = 3600
"""Longer than any measurement: learnt addresses must not time out into flooding."""

SwitchKind = Literal["none", "inline", "thread", "polling"]
"""Where it forwards: on no core of this machine (wires, a card); on the core that sends; in a thread with a
core of its own; in a thread that polls a core of its own."""
NeedKind = Literal[
    "namespaces",
    "link",
    "packet-sockets",
    "bridge-netfilter",
    "openvswitch-datapath",
    "openvswitch",
    "cpus",
    "virtual-functions",
]


class TechnologyOptions(LabSection):
    """What every technology has."""

    cores: Cores | None = Field(default=None, description="cores with this technology, before the lab's own")


class KernelPortOptions(TechnologyOptions):
    """What technologies with kernel ports have."""

    port: Literal["packet_socket", "af_packet", "af_xdp"] = Field(
        default="packet_socket",
        description="how weir-dp opens its end of a veth pair: its own AF_PACKET socket, or a DPDK driver",
    )


def no_jumbo_on_af_xdp(options: KernelPortOptions) -> str:
    """Why the ports carry no jumbo frames; "" if they do."""
    return "an af_xdp port has a page of 4096 bytes a frame" if options.port == "af_xdp" else ""


class NotModelledError(WeirError):
    """The cost model cannot know how it forwards with these options; says what to write instead."""


@dataclass(frozen=True)
class Need:
    """Something that the machine must have; fabric knows how to look for each kind."""

    kind: NeedKind
    of: str = ""
    """A kind of link ("veth"), a number of CPUs."""


@dataclass(frozen=True)
class Forwarding:
    """What of it takes time between two ports, as the cost model sees it."""

    by: Literal["wire", "sender", "thread", "polling"]
    """Nobody; the kernel, on the core that sends; a thread that sleeps; one that polls."""
    hop: str = ""
    """Of the sender's: its name in the model."""


def _nothing(_options: Any) -> Sequence[Need]:
    return ()


def _no_steps(_topology: Topology, _options: Any) -> list[Step]:
    return []


@dataclass(frozen=True)
class Technology:
    """One of them. `options` in the signatures are of its own class."""

    name: str
    """In lab files."""
    options: type[TechnologyOptions]
    ends: Callable[[Any], tuple[PortKind, PortKind]]
    """Kinds of the ports at the left and the right end of each link."""
    switch: SwitchKind
    steps: Callable[[Topology, Any], list[Step]] = _no_steps
    """What makes the switch and its ports, in order. For a chain; not for a wire of the tester alone."""
    needs: Callable[[Any], Sequence[Need]] = _nothing
    """In the order in which they are looked for."""
    forwarding: Callable[[Any], Forwarding] | None = None
    """For the cost model; None: it does not know it. Raises NotModelledError."""
    network: bool = True
    """Links are networks of a switch; else wires."""
    physical: bool = False
    """Ports are a network card's: the tester may have some of its own, which may time arrivals."""
    machine_port: PortKind | None = None
    """Of virtual machines; None: it joins none."""
    joins_hosts: bool = False
    """Hosts can be at the ends of a chain: its steps join ports of kind `host` to its networks; where links
    are wires, those to hosts are veth pairs."""
    spans: bool = False
    """It joins ports on different hosts: a device between them is in the place of a port, or of a wire."""
    no_interface: str | None = "its ports are no interfaces of the kernel"
    """Why it cannot join an interface in another network namespace; None: it can, by a veth pair."""
    program_ports: tuple[PortKind, ...] = ()
    """Of sockets by which it joins programs of the user's, or weir-dp does where links are wires."""
    functions_apart: bool = False
    """On two CPUs the functions have the second one to themselves."""
    cpu_options: tuple[str, ...] = ()
    """Options that are lists of CPUs; the first one says where the switch polls, before `cores`."""
    hugepages: bool = False
    """It cannot do without."""
    memory_mb: Callable[[Any, bool], int] = lambda _options, _jumbo: 0
    """Hugepage memory of the switch, by its options, and by whether it carries jumbo frames."""
    no_jumbo: Callable[[Any], str] = lambda _options: ""
    """Why its ports carry no jumbo frames; "" if they do."""
    remarks: Callable[[Any, str], Sequence[str]] = lambda _options, _datapath: ()
    """Sentences of what a result rests on: by its options, and by what forwarded, as deployments name it."""
    flow_cache: bool = False
    """What a packet costs depends on how many flows a cache of the switch holds."""

    @property
    def field(self) -> str:
        """Its name in Python."""
        return self.name.replace("-", "_")

    def program_port(self, ports: ProgramPorts) -> PortKind | None:
        """What joins a program that has its ports in this way; None: nothing here does."""
        if ports in ("interface", "any") and self.no_interface is None:
            return "veth"
        wanted = "program-virtio-user" if ports == "any" else f"program-{ports}"
        return next((kind for kind in self.program_ports if kind == wanted), None)

    @property
    def own_core(self) -> bool:
        """The switch's core runs nothing of weir-dp."""
        return self.switch in ("thread", "polling")
