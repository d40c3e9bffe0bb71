# SPDX-License-Identifier: Apache-2.0
"""What a node's switch knows of the others: nothing is learnt or asked for between nodes."""

from __future__ import annotations

from weir.base.cloud import NETWORK_NODE, CloudNode, CloudTopology, Network


def others(topology: CloudTopology, node: CloudNode) -> list[CloudNode]:
    """All nodes but that one."""
    return [one for one in topology.nodes if one != node]


def macs(topology: CloudTopology, network: Network, node: CloudNode) -> list[str]:
    """Of the network's ports there."""
    if node.name == NETWORK_NODE:
        routers = [one.external_mac for one in topology.tenant_networks] if network == topology.shared else []
        return [network.router_mac, network.dhcp_mac, *routers]
    return [one.mac for one in network.instances if one.node == node.name]
