# SPDX-License-Identifier: Apache-2.0
"""The topology that a lab asks for: nodes, ports, networks and wires, left to right.

A chain of n functions has n + 1 *links*; link i joins the right port of node i to the left port of
node i + 1, where node 0 and node n + 1 are the two sides of the tester. Each link is either a *network*
of the switch technology (a bridge with exactly two ports) or, with ``direct``, a plain wire.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Side = Literal["left", "right"]
PortKind = Literal[
    "virtio-user", "vhost", "af_packet", "af_xdp", "tap", "memif", "memory", "null", "pcap", "physical"
]
WireClass = Literal["virtual", "physical"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Port(_Frozen):
    """One port of the tester or of a function, as weir-dp sees it."""

    name: str  # "tester.left", "f1.left", "f1.right", "tester.right"
    node: str  # name of the node that owns it: "tester", "f1"
    side: Side
    mac: str  # 02:57:… locally administered, unique in the topology
    kind: PortKind
    link: int  # index of the link that it is attached to
    netns: str | None = None  # network namespace that holds `interface`
    interface: str | None = None  # kernel interface (af_packet, af_xdp, tap, physical)
    socket: str | None = None  # vhost-user socket, relative to the run directory


class Node(_Frozen):
    """The tester or one function."""

    name: str
    role: Literal["tester", "function"]
    nf: str | None = None  # registered network function; None for the tester
    options: dict[str, str | int | float | bool] = {}
    cores: tuple[int, ...] = ()


class Link(_Frozen):
    """Link i of the chain: a network of the switch technology, or a wire."""

    index: int
    name: str  # "net0", or "wire0" with technology direct
    network: bool  # True: a two-port bridge of the technology; False: a plain wire
    left: str  # port name
    right: str  # port name


class Topology(_Frozen):
    """Everything that fabric and report need to know about one built chain."""

    lab: str
    technology: str
    chain: str  # "PVP", "PVVP", or the function names joined by "-"
    nodes: tuple[Node, ...]  # tester first, then functions left to right
    ports: tuple[Port, ...]  # left to right
    links: tuple[Link, ...]
    switch_cores: tuple[int, ...] = ()
    wire: WireClass = "virtual"

    def port(self, name: str) -> Port:
        """The port of that name. KeyError if there is none."""
        for port in self.ports:
            if port.name == name:
                return port
        raise KeyError(name)

    def functions(self) -> tuple[Node, ...]:
        """The function nodes, left to right."""
        return tuple(node for node in self.nodes if node.role == "function")
