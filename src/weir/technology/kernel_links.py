# SPDX-License-Identifier: Apache-2.0
"""Steps for kernel ports: namespaces, veth pairs, tap interfaces, wires to other hosts.

weir-dp's end of a veth pair is "left" or "right" in the namespace of its node; the switch's end has the name
of the port ("f1.left") in the switch's namespace. weir-dp's end has another MAC address than the port: the
kernel then drops what weir-dp has already got a copy of at its first look, instead of routing it.
"""

from __future__ import annotations

from weir.base.node import UNFINISHED_REFUSED, Port
from weir.base.span import Span, SpanEnd
from weir.base.step import Step
from weir.base.topology import Link, Topology, switch_namespace

# The kernel must not send anything of its own into the chain: every packet there is counted.
_QUIET = [
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
    "net.ipv4.conf.all.arp_ignore=8",
    "net.ipv4.conf.default.arp_ignore=8",
    "net.ipv4.ip_forward=0",
]


def kernel_wires(topology: Topology) -> list[Step]:
    """A veth pair for each wire between kernel ports: the tester's two sides, or a host and a function; and
    devices to other hosts."""
    spans = [found for link in topology.links if (found := topology.span_here(link)) is not None]
    beyond = {span.link for span, _ in spans}
    pairs = [
        (link, topology.port(link.left), topology.port(link.right))
        for link in topology.links
        if link.index not in beyond
    ]
    return [
        *namespaces(topology, with_switch=False),
        *(_wire(topology, link, left, right) for link, left, right in pairs if left.netns and right.netns),
        *(span_step(topology, *found) for found in spans),
    ]


def _wire(topology: Topology, link: Link, left: Port, right: Port) -> Step:
    ends = f"{left.interface} in {left.netns}, {right.interface} in {right.netns}"
    if left.netns == right.netns:
        ends = f"{left.interface}, {right.interface} in {left.netns}"
    return Step(
        kind="veth",
        name=f"veth:{link.name}",
        params={
            "netns": left.netns or "",
            "interface": left.interface or "",
            "peer_netns": right.netns or "",
            "peer_interface": right.interface or "",
            "mtu_bytes": topology.frame_bytes_max,
        },
        text=f"make veth pair {ends}",
        undo_text=f"delete veth pair {left.interface}, {right.interface}",
    )


def namespaces(topology: Topology, *, with_switch: bool) -> list[Step]:
    """The switch's namespace and those of the nodes, quiet."""
    nodes = dict.fromkeys(port.netns for port in topology.ports if port.netns is not None)
    every = [*([switch_namespace(topology)] if with_switch else []), *nodes]
    return [step for netns in every for step in silent_namespace(netns)]


def namespace_step(netns: str) -> Step:
    """An empty one."""
    return Step(
        kind="netns",
        name=f"netns:{netns}",
        params={"netns": netns},
        text=f"make network namespace {netns}",
        undo_text=f"delete network namespace {netns}",
    )


def silent_namespace(netns: str) -> list[Step]:
    """One of them."""
    return [
        namespace_step(netns),
        Step(
            kind="sysctl",
            name=f"sysctl:{netns}",
            params={"netns": netns, "settings": _QUIET},
            text=f"silence IPv6 and ARP in {netns}",
            undo_text="",
        ),
    ]


def veth(topology: Topology, port: Port) -> Step:
    """The veth pair between a port of weir-dp, or of a host, and the switch."""
    switch = switch_namespace(topology)
    return Step(
        kind="veth",
        name=f"veth:{port.name}",
        params={
            "netns": port.netns or "",
            "interface": port.interface or "",
            "peer_netns": switch,
            "peer_interface": port.name,
            "mtu_bytes": topology.frame_bytes_max,
            "peer_without_offloads": port.kind in UNFINISHED_REFUSED or _is_offloaded(topology, port),
        },
        text=f"make veth pair {port.interface} in {port.netns}, {port.name} in {switch}",
        undo_text=f"delete veth pair {port.name}",
    )


def _is_offloaded(topology: Topology, port: Port) -> bool:
    """What forwards at the interface sees no frames but finished ones."""
    return any(node.name == port.node and node.offload is not None for node in topology.nodes)


def tap(topology: Topology, port: Port, name: str) -> Step:
    """A tap interface of a virtual machine's port, in the switch's namespace."""
    switch = switch_namespace(topology)
    machine = next(node.machine for node in topology.machines() if node.name == port.node)
    assert machine is not None
    return Step(
        kind="tap",
        name=f"tap:{name}",
        params={
            "netns": switch,
            "interface": name,
            "queues": machine.queues,
            "mtu_bytes": topology.frame_bytes_max,
        },
        text=f"make tap interface {name} in {switch}",
        undo_text=f"delete tap interface {name}",
    )


def span_step(topology: Topology, span: Span, end: SpanEnd) -> Step:
    """This part's end of it. `overhead_bytes`: by how much the MTU of the interface below must be greater."""
    beyond = span.beyond(topology.host)
    where = f"{end.interface} in {end.netns}"
    if span.kind == "vxlan":
        how = f"VXLAN {span.vni} from {end.address or 'this host'} to {beyond.address or beyond.host}"
    else:
        how = f"on {end.card}" if span.kind == "card" else f"VLAN {span.vlan} of {end.card}"
    return Step(
        kind="span",
        name=f"span:{span.name}",
        params={
            "netns": end.netns,
            "interface": end.interface,
            "span": span.kind,
            "link": span.name,
            "host": end.host,
            "beyond": beyond.host,
            "local": end.address,
            "remote": beyond.address,
            "card": end.card,
            "vni": span.vni,
            "udp_port": span.udp_port,
            "vlan": span.vlan,
            "mtu_bytes": span.mtu_bytes,
            "overhead_bytes": span.overhead_bytes,
            "frame_bytes": span.frame_bytes,
        },
        text=f"make {where}, {how}, the wire to {beyond.host}",
        undo_text=f"delete {end.interface}",
    )
