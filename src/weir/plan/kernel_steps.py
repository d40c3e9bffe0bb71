# SPDX-License-Identifier: Apache-2.0
"""Steps for kernel ports: namespaces, veth pairs, and the Linux bridge.

weir-dp's end of a veth pair is "left" or "right" in the namespace of its node; the switch's end has the name
of the port ("f1.left") in the switch's namespace. weir-dp's end has another MAC address than the port: the
kernel then drops what weir-dp has already got a copy of at its first look, instead of routing it.
"""

from __future__ import annotations

from weir.plan.failover import taps
from weir.plan.step import Step
from weir.plan.topology import switch_namespace
from weir.spec.lab import Lab
from weir.spec.topology import Link, Port, Topology

AGEING_S = 3600  # longer than any measurement: learnt addresses must not time out into flooding
# The kernel must not send anything of its own into the chain: every packet there is counted.
_QUIET = [
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
    "net.ipv4.conf.all.arp_ignore=8",
    "net.ipv4.conf.default.arp_ignore=8",
    "net.ipv4.ip_forward=0",
]
# Of br_netfilter, for each network namespace its own; where that is loaded, a new namespace begins with 1.
_BRIDGE_HOOKS = [f"net.bridge.bridge-nf-call-{tables}" for tables in ("iptables", "ip6tables", "arptables")]


def linux_bridge(topology: Topology, _lab: Lab) -> list[Step]:
    """One two-port bridge for each link."""
    switch = switch_namespace(topology)
    plan = [*namespaces(topology, with_switch=True), _netfilter(topology)]
    for link in topology.links:
        plan.append(
            Step(
                kind="bridge",
                name=f"bridge:{link.name}",
                params={"netns": switch, "bridge": link.name, "ageing_s": AGEING_S},
                text=f"make bridge {link.name} in {switch}, learning, without STP and multicast snooping",
                undo_text=f"delete bridge {link.name}",
            )
        )
        for port in (topology.port(link.left), topology.port(link.right)):
            if port.kind != "vm-tap":
                plan += [veth(topology, port), _bridge_port(switch, link, port.name)]
                continue
            names = taps(topology, port)
            for name in names:
                plan += [tap(topology, port, name), _bridge_port(switch, link, name, flooded=len(names) == 1)]
    return plan


def _bridge_port(switch: str, link: Link, name: str, *, flooded: bool = True) -> Step:
    how = "" if flooded else ", without packets for everybody or nobody"
    return Step(
        kind="bridge-port",
        name=f"bridge-port:{name}",
        params={"netns": switch, "bridge": link.name, "interface": name, "flooded": flooded},
        text=f"attach {name} to bridge {link.name}{how}",
        undo_text=f"detach {name} from {link.name}",
    )


def _netfilter(topology: Topology) -> Step:
    """In the switch's namespace alone; said either way, so that a lab is the same on every host."""
    switch, wanted = switch_namespace(topology), bool(topology.bridge_netfilter)
    return Step(
        kind="sysctl",
        name=f"netfilter:{switch}",
        params={"netns": switch, "settings": [f"{hook}={int(wanted)}" for hook in _BRIDGE_HOOKS]},
        text=f"{'lead' if wanted else 'do not lead'} bridged packets through netfilter in {switch}",
        undo_text="",
    )


def kernel_wire(topology: Topology) -> list[Step]:
    """One veth pair between the tester's two sides, without a switch."""
    left, right = topology.ports
    return [
        *namespaces(topology, with_switch=False),
        Step(
            kind="veth",
            name="veth:wire0",
            params={
                "netns": left.netns or "",
                "interface": left.side,
                "peer_netns": right.netns or "",
                "peer_interface": right.side,
            },
            text=f"make veth pair {left.side}, {right.side} in {left.netns}",
            undo_text=f"delete veth pair {left.side}, {right.side}",
        ),
    ]


def namespaces(topology: Topology, *, with_switch: bool) -> list[Step]:
    """The switch's namespace and those of the nodes, quiet."""
    nodes = dict.fromkeys(port.netns for port in topology.ports if port.netns is not None)
    plan = []
    for netns in [*([switch_namespace(topology)] if with_switch else []), *nodes]:
        plan.append(
            Step(
                kind="netns",
                name=f"netns:{netns}",
                params={"netns": netns},
                text=f"make network namespace {netns}",
                undo_text=f"delete network namespace {netns}",
            )
        )
        plan.append(
            Step(
                kind="sysctl",
                name=f"sysctl:{netns}",
                params={"netns": netns, "settings": _QUIET},
                text=f"silence IPv6 and ARP in {netns}",
                undo_text="",
            )
        )
    return plan


def veth(topology: Topology, port: Port) -> Step:
    """The veth pair between a port of weir-dp and the switch."""
    switch = switch_namespace(topology)
    return Step(
        kind="veth",
        name=f"veth:{port.name}",
        params={
            "netns": port.netns or "",
            "interface": port.side,
            "peer_netns": switch,
            "peer_interface": port.name,
        },
        text=f"make veth pair {port.side} in {port.netns}, {port.name} in {switch}",
        undo_text=f"delete veth pair {port.name}",
    )


def tap(topology: Topology, port: Port, name: str) -> Step:
    """A tap interface of a virtual machine's port, in the switch's namespace."""
    switch = switch_namespace(topology)
    machine = next(node.machine for node in topology.machines() if node.name == port.node)
    assert machine is not None
    return Step(
        kind="tap",
        name=f"tap:{name}",
        params={"netns": switch, "interface": name, "queues": machine.queues},
        text=f"make tap interface {name} in {switch}",
        undo_text=f"delete tap interface {name}",
    )
