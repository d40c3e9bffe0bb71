# SPDX-License-Identifier: Apache-2.0
"""Steps for a tenant's router, and a network's DHCP server, each in a namespace of its own
beside the network node."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import (
    MTU_BYTES,
    NETWORK_NODE,
    CloudTopology,
    Network,
    TenantNetwork,
    dhcp_name,
    router_name,
)
from weir.base.step import Step
from weir.plan.cloud import filters, names
from weir.plan.cloud.parts import interface, ruleset, silent, wire


def router_steps(topology: CloudTopology, network: TenantNetwork) -> Iterator[Step]:
    """The router: forwards as soon as it is there, with nobody to forward for yet."""
    netns, node = topology.namespace(router_name(network)), topology.namespace(NETWORK_NODE)
    yield from silent(netns, "net.ipv4.ip_forward=1")
    for own, port in ((names.INNER, names.inner_port(network)), (names.OUTER, names.outer_port(network))):
        yield wire(netns, own, node, port)
    floating = [f"{one.floating}/32" for one in network.instances if one.floating is not None]
    inside = [f"{network.router}/{network.prefix_length}"]
    back = [f"{host}/32 via {last.address}" for last in network.functions[-1:] for host in last.allowed]
    yield interface(netns, names.INNER, network.router_mac, inside, at=router_name(network), routes=back)
    length = topology.external.partition("/")[2]
    outside = [f"{network.external}/{length}", *floating]
    yield interface(
        netns,
        names.OUTER,
        network.external_mac,
        outside,
        at=router_name(network),
        routes=list(_ways_out(topology, network)),
    )
    rules = filters.router(network, outer=names.OUTER, inner=names.INNER)
    yield ruleset(netns, "iptables", rules, f"let the router of {network.name} translate and filter")


def _ways_out(topology: CloudTopology, network: TenantNetwork) -> Iterator[str]:
    """The host outside is on the router's own link, and yet reached through what tenants share."""
    way = topology.way_out(network)
    yield f"default via {way}"
    if way != topology.outside:
        yield f"{topology.outside}/32 via {way}"


def dhcp_host_steps(topology: CloudTopology, network: Network) -> Iterator[Step]:
    """Where the DHCP server will be."""
    netns, node = topology.namespace(dhcp_name(network)), topology.namespace(NETWORK_NODE)
    yield from silent(netns)
    yield wire(netns, names.HOST_INTERFACE, node, names.dhcp_port(network))
    own = [f"{network.dhcp}/{network.prefix_length}"]
    yield interface(netns, names.HOST_INTERFACE, network.dhcp_mac, own, at=dhcp_name(network))


def dhcp_server_step(topology: CloudTopology, network: Network) -> Step:
    """The server, when packets get through: knows the network's instances and nobody else. Who reaches
    the router through a function is given that as its router."""
    gateways = dict.fromkeys(one.gateway for one in network.instances)
    tags = {gateway: f"hop{number}" for number, gateway in enumerate(gateways)}
    return Step(
        kind="dhcp-server",
        name=f"dhcp-server:{network.name}",
        params={
            "netns": topology.namespace(dhcp_name(network)),
            "interface": names.HOST_INTERFACE,
            "network": network.name,
            "subnet": network.subnet,
            "options": [f"tag:{tag},option:router,{gateway}" for gateway, tag in tags.items()],
            "mtu_bytes": MTU_BYTES,
            "hosts": [f"{one.mac},set:{tags[one.gateway]},{one.address}" for one in network.instances],
        },
        text=f"serve DHCP to the {len(network.instances)} instances of {network.name}",
        undo_text=f"end the DHCP server of {network.name}",
    )
