# SPDX-License-Identifier: Apache-2.0
"""A chain over several hosts: its links from one to another, and the part that each host builds. Pure.

All parts have the deployment's name, and so the same MAC addresses: each part knows those of its neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from weir.base.node import ELSEWHERE, Port, PortKind
from weir.base.span import Span, SpanEnd, vni
from weir.base.topology import Link, Topology, switch_namespace, token_of
from weir.lab.frames import CAPTURE, VLAN_TAG_BYTES, frame_sizes_bytes
from weir.lab.lab import Lab
from weir.lab.spanning import HostsOptions, WireOptions
from weir.technology import TECHNOLOGIES

SPAN_PORT: PortKind = "packet_socket"
"""What weir-dp opens at the end of a wire to another host: the device itself."""


def spanning(topology: Topology, lab: Lab, hosts: HostsOptions) -> Topology:
    """The same with the spans that it needs."""
    host_of = {node.name: node.host for node in topology.nodes}
    used: Counter[str] = Counter()
    spans: list[Span] = []
    for link in topology.links:
        left, right = topology.port(link.left), topology.port(link.right)
        if host_of[left.node] == host_of[right.node]:
            continue
        ends = [_end(topology, hosts, link, port, used) for port in (left, right)]
        used.update(end.host for end in ends)
        spans.append(
            Span(
                link=link.index,
                name=link.name,
                kind=hosts.wire.kind,
                left=ends[0],
                right=ends[1],
                vni=vni(token_of(topology.deployment), link.index) if hosts.wire.kind == "vxlan" else 0,
                udp_port=hosts.wire.port if hosts.wire.kind == "vxlan" else 0,
                vlan=(hosts.wire.vlan or 0) + len(spans) if hosts.wire.kind == "vlan" else 0,
                frame_bytes=_longest_bytes(topology, lab),
            )
        )
    return topology.model_copy(update={"spans": tuple(spans)})


def _longest_bytes(topology: Topology, lab: Lab) -> int:
    """Of the tester's frames; those of captures are as long as any that a port has room for."""
    tag_bytes = VLAN_TAG_BYTES if lab.traffic.vlan is not None else 0
    most = topology.frame_bytes_max + tag_bytes
    sizes = [[most] if frame == CAPTURE else frame_sizes_bytes(frame) for frame in lab.traffic.frames]
    return max(size for each in sizes for size in each)


def _end(topology: Topology, hosts: HostsOptions, link: Link, port: Port, used: Counter[str]) -> SpanEnd:
    """`used`: how many of its cards a host's spans before this one have."""
    host = next(node.host for node in topology.nodes if node.name == port.node)
    return SpanEnd(
        host=host,
        port=port.name,
        netns=switch_namespace(topology) if link.network else port.netns or "",
        interface=f"{link.name}.far" if link.network else port.interface or "",
        address=hosts.wire.addresses.get(host, ""),
        card=_card(hosts.wire, host, used[host]),
    )


def _card(wire: WireOptions, host: str, used: int) -> str:
    if wire.kind == "vxlan":
        return ""
    return wire.cards[host][used if wire.kind == "card" else 0]


def part(topology: Topology, host: str) -> Topology:
    """What that host builds of it. The other ports keep their addresses: frames are sent to them."""
    here = {node.name for node in topology.nodes if node.host == host}
    gone = {"kind": ELSEWHERE, "netns": None, "interface": None, "socket": None}
    ports = tuple(port if port.node in here else port.model_copy(update=gone) for port in topology.ports)
    update = {"host": host, "ports": ports, "switch_cores": _switch_cores(topology, host)}
    return topology.model_copy(update=update)


def _switch_cores(topology: Topology, host: str) -> tuple[int, ...]:
    """What forwards on the core that sends, works where something of this part does."""
    if TECHNOLOGIES[topology.technology].switch != "inline":
        return topology.switch_cores
    own = {core for node in topology.nodes if node.host == host for core in node.cores}
    return tuple(core for core in topology.switch_cores if core in own)


def tested_here(topology: Topology) -> bool:
    """Whether the tester is in this part."""
    return topology.nodes[0] in topology.here()


def with_addresses(lab: Lab, addresses: Mapping[str, str]) -> Lab:
    """The lab with the addresses by which its hosts are in the cluster, where it says none."""
    assert lab.hosts is not None
    wire = lab.hosts.wire
    if wire.kind != "vxlan":
        return lab
    found = wire.model_copy(update={"addresses": {**addresses, **wire.addresses}})
    return lab.model_copy(update={"hosts": lab.hosts.model_copy(update={"wire": found})})
