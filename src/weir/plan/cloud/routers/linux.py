# SPDX-License-Identifier: Apache-2.0
"""A router as OpenStack has it: a network namespace in which Linux forwards, translates and filters."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import NETWORK_NODE, CloudTopology, TenantNetwork, router_name
from weir.base.step import Step
from weir.plan.cloud import names
from weir.plan.cloud.parts import interface, ruleset, silent
from weir.plan.cloud.routers.kind import METADATA, RouterKind, hosts_behind, wires


def _steps(topology: CloudTopology, network: TenantNetwork) -> Iterator[Step]:
    netns, called = topology.namespace(router_name(network)), router_name(network)
    yield from silent(netns, "net.ipv4.ip_forward=1")
    yield from wires(topology, network, NETWORK_NODE)
    floating = [f"{one.floating}/32" for one in network.instances if one.floating is not None]
    inside = [f"{network.router}/{network.prefix_length}"]
    back = [f"{host}/32 via {last}" for host, last in hosts_behind(network)]
    yield interface(netns, names.INNER, network.router_mac, inside, at=called, routes=back)
    length = topology.external.partition("/")[2]
    outside = [f"{network.external}/{length}", *floating]
    out = list(_ways_out(topology, network))
    yield interface(netns, names.OUTER, network.external_mac, outside, at=called, routes=out)
    text = f"let the router of {network.name} translate and filter"
    yield ruleset(netns, "iptables", rules(network), text)


def _ways_out(topology: CloudTopology, network: TenantNetwork) -> Iterator[str]:
    """The host outside is on the router's own link, and yet reached through what tenants share."""
    way = topology.way_out(network)
    yield f"default via {way}"
    if way != topology.outside:
        yield f"{topology.outside}/32 via {way}"


def rules(network: TenantNetwork) -> str:
    """For iptables-restore, as Neutron's L3 agent has them: source NAT, floating addresses, nothing else from
    outside, and no metadata."""
    outer, inner = names.OUTER, names.INNER
    floating = [(one.floating, one.address) for one in network.instances if one.floating is not None]
    return "\n".join(
        [
            "*nat",
            *(f"-A PREROUTING -d {outside} -j DNAT --to-destination {own}" for outside, own in floating),
            # Who asks for a floating address of its own network, too: the answer has to come back.
            f"-A POSTROUTING ! -o {outer} -m conntrack ! --ctstate DNAT -j ACCEPT",
            *(f"-A POSTROUTING -s {own} -j SNAT --to-source {outside}" for outside, own in floating),
            f"-A POSTROUTING -s {network.subnet} -j SNAT --to-source {network.external} --random-fully",
            "COMMIT",
            "*filter",
            ":FORWARD DROP [0:0]",
            f"-A FORWARD -d {METADATA} -p tcp -j REJECT --reject-with tcp-reset",
            f"-A FORWARD -d {METADATA} -j REJECT --reject-with icmp-admin-prohibited",
            "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
            f"-A FORWARD -i {inner} -o {outer} -j ACCEPT",
            "-A FORWARD -m conntrack --ctstate DNAT -j ACCEPT",
            "COMMIT",
            "",
        ]
    )


KIND = RouterKind(
    sentence="Linux routes for each tenant, in a namespace of its own, with iptables and conntrack.",
    steps=_steps,
)
