# SPDX-License-Identifier: Apache-2.0
"""The network of a host as it is: namespaces, interfaces, what joins them, switches. `weir graph`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from weir.base.record import Record, document_schema
from weir.results.document import HOST_GRAPH_VERSION, Document


class Traffic(Record):
    """What an interface has counted since it was made."""

    rx_packets: int
    rx_bytes: int
    rx_dropped: int
    rx_errors: int
    tx_packets: int
    tx_bytes: int
    tx_dropped: int
    tx_errors: int


class Rates(Record):
    """Of the time between two looks."""

    rx_pps: float
    rx_bps: float
    tx_pps: float
    tx_bps: float
    dropped_pps: float
    """Dropped or with errors, both directions together."""


class Interface(Record):
    """One interface of a namespace."""

    id: str
    """ "<namespace>/<index>": what ends of links name."""
    name: str
    index: int
    kind: str
    """As the kernel calls it: veth, bridge, tun, vxlan, vlan, …; device: a card's, or another without a
    kind; loopback."""
    mac: str | None
    mtu_bytes: int
    up: bool
    addresses: list[str]
    """With prefix lengths."""
    details: dict[str, str]
    """Of its kind: VNI, remote and local address, VLAN tag."""
    holder: str | None
    """The process that has it open, and its number: a virtual machine behind a tap."""
    traffic: Traffic
    rates: Rates | None
    """Absent: looked at once."""


class Namespace(Record):
    """A network namespace."""

    id: str
    """Of the kernel: the inode's number."""
    name: str
    """ "host"; by which `ip netns` knows it; else its first process and that one's number."""
    forwards: bool | None
    """Whether it routes IPv4; absent: could not be read."""
    processes: int | None
    """How many are in it; absent: could not be counted."""
    interfaces: list[Interface]


class SwitchPort(Record):
    """A port of an Open vSwitch bridge."""

    name: str
    type: str
    """system, internal, patch, vxlan, gre, dpdkvhostuserclient, …"""
    tag: int | None
    """VLAN of an access port."""
    interface: str | None
    """The id of the kernel's interface; absent: it has none."""
    options: dict[str, str]


class SwitchBridge(Record):
    """A bridge of an Open vSwitch."""

    id: str
    """ "<database>/<bridge>"."""
    name: str
    database: str
    """The socket of its ovsdb-server."""
    namespace: str | None
    """The id of that in which its ovs-vswitchd is; absent: none runs, or it cannot be told."""
    datapath: str
    """system: the kernel's; netdev: userspace."""
    ports: list[SwitchPort]

    def port_id(self, port: SwitchPort) -> str:
        """Of one of its ports: of its interface where it has one."""
        return port.interface or f"{self.id}:{port.name}"


class Join(Record):
    """Two things that packets pass between."""

    kind: Literal["veth", "member", "lower", "port", "patch", "tunnel"]
    """The two ends of a veth pair; an interface and the bridge or bond that it belongs to; an interface and
    the one below it; an interface and the Open vSwitch bridge that has it; two such bridges; two ends of a
    tunnel on this host."""
    ends: tuple[str, str]
    """Ids of interfaces and bridges; of a member, a lower one and a port: the inner one second."""
    ports: tuple[str, str] | None = None
    """Of a patch or a tunnel: the names of its ports at both bridges."""


class Hop(Record):
    """A thing that the packet passes."""

    at: str
    """The id of an interface or a bridge; of a port that is no interface "<bridge>:<port>"."""
    name: str
    namespace: str
    """The name of its namespace."""
    does: str
    """What happens to the packet there, and from what that is known."""


class Way(Record):
    """Of an IPv4 packet, as far as it can be followed."""

    source: str
    destination: str
    hops: list[Hop]
    arrives: bool
    stopped: str | None
    """Why it goes no farther, or cannot be followed; absent: it arrives."""
    doubts: list[str]
    """What could change the way and was not read."""


class Difference(Record):
    """Between the network of a deployment and what its steps made."""

    kind: Literal["missing", "changed", "added"]
    namespace: str
    """Its name; of a bridge that is missing the directory of its Open vSwitch."""
    what: str
    """An interface, a bridge or a port; nothing: the namespace itself."""
    at: str | None
    """Its id, as of a hop; absent: it is missing."""
    said: str
    """ "has an MTU of 1400, was made with 1518"."""


class HostGraph(Document):
    """What is there, and what could not be seen."""

    VERSION: ClassVar[int] = HOST_GRAPH_VERSION

    version: int = HOST_GRAPH_VERSION
    host: str
    looked_at: str
    """UTC, ISO 8601."""
    seconds: float | None
    """Between the two looks that rates are of."""
    namespaces: list[Namespace]
    bridges: list[SwitchBridge]
    joins: list[Join]
    unseen: list[str]
    """A sentence for each thing that could not be read."""
    way: Way | None = None
    """Of a packet; absent: none was asked for."""
    deployment: str | None = None
    """Whose network was held against the steps that built it; absent: none was asked for."""
    differences: list[Difference] = []
    """Found then."""


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `weir graph -f json` writes."""
    return document_schema(HostGraph, f"Weir graph of a host, version {HOST_GRAPH_VERSION}")
