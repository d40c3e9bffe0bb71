# SPDX-License-Identifier: Apache-2.0
"""Steps for a network's DHCP server, in a namespace of its own beside the network node."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import MTU_BYTES, NETWORK_NODE, CloudTopology, Network, dhcp_name
from weir.base.step import Step
from weir.plan.cloud import names
from weir.plan.cloud.parts import interface, silent, wire


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
