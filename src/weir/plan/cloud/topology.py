# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to names and addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

from weir.base.cloud import NETWORK_NODE, CloudNode, CloudTopology, Instance, Rule, TenantNetwork
from weir.base.topology import token_of
from weir.lab.tenants import Tenant, TenantsFile

_NODES_NETWORK = ipaddress.IPv4Network("172.16.0.0/24")
_SEGMENTS = {"vlan": 1000, "vxlan": 10_000, "gre": 10_000}
"""Numbers on the wire are others than the nodes' own, as in a cloud: what forgets to translate is seen."""


def cloud_topology(tenants: TenantsFile, deployment: str) -> CloudTopology:
    """`deployment`: its id. Addresses of a subnet: router, DHCP server, instances; outside: the host there,
    routers, floating ones."""
    cloud = tenants.cloud
    outside = ipaddress.IPv4Network(cloud.external).hosts()
    there = str(next(outside))
    names = [NETWORK_NODE, *(f"compute{number}" for number in range(1, cloud.compute_nodes + 1))]
    segments = _SEGMENTS[cloud.isolation]
    made = _Numbering(token_of(deployment), segments, outside, cycle(names[1:]))
    return CloudTopology(
        lab=tenants.name,
        deployment=deployment,
        security=cloud.security,
        isolation=cloud.isolation,
        external=cloud.external,
        outside=there,
        nodes=tuple(
            CloudNode(name=name, address=str(_NODES_NETWORK[number])) for number, name in enumerate(names, 1)
        ),
        networks=tuple(
            made.network(name, number, one) for number, (name, one) in enumerate(tenants.every(), 1)
        ),
    )


@dataclass
class _Numbering:
    """What one network takes, the next one does not get."""

    token: str
    segments: int  # the first one is one more
    outside: Iterator[ipaddress.IPv4Address]
    turn: Iterator[str]  # nodes

    def network(self, name: str, number: int, tenant: Tenant) -> TenantNetwork:
        """The tenant's."""
        inside = ipaddress.IPv4Network(tenant.subnet).hosts()
        router, dhcp = str(next(inside)), str(next(inside))
        external = str(next(self.outside))
        instances = tuple(
            Instance(
                name=f"{name}.{index}",
                number=index,
                node=next(self.turn),
                mac=_mac(self.token, number, index),
                address=str(next(inside)),
                floating=str(next(self.outside)) if index <= tenant.floating else None,
            )
            for index in range(1, tenant.instances + 1)
        )
        return TenantNetwork(
            name=name,
            number=number,
            segment=self.segments + number,
            subnet=tenant.subnet,
            router=router,
            router_mac=_mac(self.token, number, 0xF1),
            dhcp=dhcp,
            dhcp_mac=_mac(self.token, number, 0xF2),
            external=external,
            external_mac=_mac(self.token, number, 0xF3),
            ingress=tuple(
                Rule(protocol=one.protocol, ports=one.ports, source=one.source) for one in tenant.ingress
            ),
            instances=instances,
        )


def _mac(token: str, network: int, number: int) -> str:
    """02:57 (locally administered, W), a byte of the deployment, two of the network, the number."""
    return f"02:57:{token[0:2]}:{network >> 8:02x}:{network & 0xFF:02x}:{number:02x}"
