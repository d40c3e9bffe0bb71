# SPDX-License-Identifier: Apache-2.0
"""OpenFlow rules of a node's bridges. Network K has VLAN tag K within a node, and its segment on the wire.

br-tun, as with Neutron's l2population: everything is known, nothing is learnt or flooded to nodes without the
network. Tables: 0 whence, 2 to the wire, 4 from the wire, 20 to one, 22 to all.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import NETWORK_NODE, CloudNode, CloudTopology
from weir.plan.cloud.names import FROM_TUNNELS, FROM_VLANS, TO_TUNNELS, TO_VLANS
from weir.plan.cloud.neighbours import macs, others
from weir.plan.cloud.security import SECURITIES

_MULTICAST = "01:00:00:00:00:00/01:00:00:00:00:00"


def tunnel_port(node: CloudNode) -> str:
    """Of br-tun, to that node."""
    return f"tun-{node.name}"


def tunnel_bridge(topology: CloudTopology, node: CloudNode) -> Iterator[str]:
    """Of br-tun."""
    yield "priority=0,actions=drop"
    yield f'priority=1,in_port="{FROM_TUNNELS}",actions=resubmit(,2)'
    yield f"table=2,priority=1,dl_dst={_MULTICAST},actions=resubmit(,22)"
    yield "table=2,priority=0,actions=resubmit(,20)"
    for other in others(topology, node):
        yield f'priority=1,in_port="{tunnel_port(other)}",actions=resubmit(,4)'
    for network in topology.networks_at(node.name):
        tag, key = network.number, network.segmentation_id
        yield f'table=4,priority=1,tun_id={key},actions=mod_vlan_vid:{tag},output:"{FROM_TUNNELS}"'
        there = [one for one in others(topology, node) if network in topology.networks_at(one.name)]
        for other in there:
            out = f'strip_vlan,set_tunnel:{key},output:"{tunnel_port(other)}"'
            for mac in macs(topology, network, other):
                yield f"table=20,priority=2,dl_vlan={tag},dl_dst={mac},actions={out}"
        everybody = ",".join(f'output:"{tunnel_port(other)}"' for other in there)
        if everybody:
            yield f"table=22,priority=1,dl_vlan={tag},actions=strip_vlan,set_tunnel:{key},{everybody}"


def vlan_bridge(topology: CloudTopology, node: CloudNode) -> Iterator[str]:
    """Of br-vlan: tags are the wire's there."""
    yield "priority=0,actions=NORMAL"
    yield f'priority=2,in_port="{FROM_VLANS}",actions=drop'
    for network in topology.networks_at(node.name):
        match = f'in_port="{FROM_VLANS}",dl_vlan={network.number}'
        yield f"priority=4,{match},actions=mod_vlan_vid:{network.segmentation_id},NORMAL"


def integration_bridge(topology: CloudTopology, node: CloudNode) -> Iterator[str]:
    """Of br-int."""
    if topology.isolation == "vlan":
        yield f'priority=2,in_port="{TO_VLANS}",actions=drop'
        for network in topology.networks_at(node.name):
            match = f'in_port="{TO_VLANS}",dl_vlan={network.segmentation_id}'
            yield f"priority=3,{match},actions=mod_vlan_vid:{network.number},resubmit(,60)"
    else:
        yield f'priority=3,in_port="{TO_TUNNELS}",actions=resubmit(,60)'
    filters = SECURITIES[topology.security].flows
    if filters is None or node.name == NETWORK_NODE:
        yield "priority=0,actions=NORMAL"
        yield "table=60,priority=0,actions=NORMAL"
    else:
        yield from filters(topology, node)
