# SPDX-License-Identifier: Apache-2.0
"""What interfaces, bridges and ports are called, as in OpenStack. Of network K and its instance J:

tapK.J   the instance's interface at its node       qrK   the router's inner port at br-int
qbrK.J   the bridge that filters for it             qgK   its outer port at br-ex, or br-int
qvbK.J, qvoK.J   from that bridge to br-int         dhcpK the DHCP server's port at br-int
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass

from weir.base.cloud import Instance, Network

INTEGRATION, TUNNEL, VLAN, PHYSICAL, EXTERNAL = "br-int", "br-tun", "br-vlan", "br-phy", "br-ex"
DATA_INTERFACE, EXTERNAL_INTERFACE = "eth1", "eth2"
"""Of a node: to the others, and outside."""
TO_TUNNELS, FROM_TUNNELS = "patch-tun", "patch-int"
TO_VLANS, FROM_VLANS = "int-br-vlan", "phy-br-vlan"
"""Patch ports: of br-int to the bridge that leads to the nodes' wire, and of that one."""
OUTER, INNER = "qg", "qr"
"""In a router's namespace."""
HOST_INTERFACE = "eth0"
"""Of an instance, a DHCP server and the host outside."""
_KINDS = ("tap", "qbr", "qvb", "qvo")
"""Of an instance's interfaces at its node."""


@dataclass(frozen=True)
class InstancePort:
    """The interfaces of an instance at its node."""

    tap: str
    bridge: str
    below: str  # the bridge's end of the pair to br-int
    above: str  # and br-int's

    @classmethod
    def of(cls, network: Network, instance: Instance) -> InstancePort:
        """Those names."""
        number = f"{network.number}.{instance.number}"
        return cls(*(f"{kind}{number}" for kind in _KINDS))

    def by_kind(self) -> Mapping[str, str]:
        """Each without its numbers: {"tap": "tap1.2", …}."""
        return dict(zip(_KINDS, astuple(self), strict=True))


def outer_port(network: Network) -> str:
    """The router's, at br-ex."""
    return f"qg{network.number}"


def inner_port(network: Network) -> str:
    """The router's, at br-int."""
    return f"qr{network.number}"


def dhcp_port(network: Network) -> str:
    """The DHCP server's, at br-int."""
    return f"dhcp{network.number}"


def ovs_directory(node: str) -> str:
    """Of its Open vSwitch, in the run directory."""
    return f"ovs-{node}"


def hosts_file(network: str) -> str:
    """In the run directory: what commands in that tenant's namespaces, or OUTSIDE, see as /etc/hosts."""
    return f"{network}.hosts"


def resolver_file() -> str:
    """Likewise as /etc/resolv.conf."""
    return "resolv.conf"
