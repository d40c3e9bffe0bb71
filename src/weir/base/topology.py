# SPDX-License-Identifier: Apache-2.0
"""The topology that a lab asks for: nodes, ports, networks and wires, left to right.

A chain of n functions has n + 1 *links*; link i joins the right port of node i to the left port of
node i + 1, where node 0 and node n + 1 are the two sides of the tester. Each link is either a *network*
of the switch technology (a bridge with exactly two ports) or, with ``direct``, a plain wire.

Names of what a deployment makes all have its token, so that nothing else is ever taken down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from weir.base.node import ELSEWHERE, PROGRAM_PEERS, STANDARD_FRAME_BYTES, Node, Port, Side, is_jumbo
from weir.base.record import FixedRecord
from weir.base.span import Span, SpanEnd

WireClass = Literal["virtual", "physical"]


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
    host: str = ""
    """Of a chain that spans hosts: whose part this is, with the ports of the others as `elsewhere`."""
    spans: tuple[Span, ...] = ()
    """Its links from host to host."""

    @model_validator(mode="after")
    def _hangs_together(self) -> Topology:
        nodes, ports = {one.name for one in self.nodes}, {one.name for one in self.ports}
        for port in self.ports:
            if port.node not in nodes:
                raise ValueError(f"port {port.name} is of {port.node}, which is no node")
        for link in self.links:
            for end in (link.left, link.right):
                if end not in ports:
                    raise ValueError(f"link {link.index} ends at {end}, which is no port")
        return self

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

    def here(self) -> tuple[Node, ...]:
        """The nodes of this part; of a chain on one machine all."""
        return tuple(node for node in self.nodes if not self.host or node.host == self.host)

    def links_here(self) -> tuple[Link, ...]:
        """Those that have an end here."""
        there = {port.name for port in self.ports if port.kind != ELSEWHERE}
        return tuple(link for link in self.links if {link.left, link.right} & there)

    def span_here(self, link: Link) -> tuple[Span, SpanEnd] | None:
        """The span that a link is, and its end in this part; None: it has none here."""
        span = next((one for one in self.spans if one.link == link.index), None)
        end = span.end(self.host) if span is not None else None
        return (span, end) if span is not None and end is not None else None

    def machines(self) -> tuple[Node, ...]:
        """Of those here, those in virtual machines."""
        return tuple(node for node in self.here() if node.machine is not None)

    def namespaced(self) -> tuple[Node, ...]:
        """Of those here, those that Linux or a program does in a namespace."""
        return tuple(node for node in self.here() if node.in_namespace)

    def unready(self) -> list[str]:
        """Functions that are programs of which nobody knows that they forward: packets are waited for through
        the whole chain, if one of them says so."""
        programs = [(node.name, node.program) for node in self.functions() if node.program is not None]
        waited = any(program.ready_packets for _, program in programs)
        return [] if waited else [name for name, _ in programs]

    def namespace_of(self, node: Node) -> str:
        """The network namespace of a function that has one of its own."""
        return namespace(token_of(self.deployment), node.name)

    def by_socket(self, node: Node) -> bool:
        """Whether its ports are a program's at sockets."""
        return any(port.kind in PROGRAM_PEERS for port in self.ports if port.node == node.name)

    def working_cores(self) -> set[int]:
        """On which something of it works."""
        return {core for node in self.here() for core in node.cores} | set(self.switch_cores)

    def outside_cores(self) -> tuple[int, ...]:
        """On which a switch, Linux, a program or a virtual machine works, each once."""
        there = (core for node in self.here() if not node.in_weir_dp for core in node.cores)
        return tuple(dict.fromkeys((*self.switch_cores, *there)))

    def processed(self) -> tuple[Node, ...]:
        """The functions here that run in weir-dp."""
        return tuple(node for node in self.here() if node.role == "function" and node.in_weir_dp)


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
