# SPDX-License-Identifier: Apache-2.0
"""`ovs-conntrack`: flows of br-int filter, at nodes with instances.

Tables: 0 whence, 1 anti-spoofing, 3 what an instance sends, 2 where to, 60 what came for whom, 4 and 5 what
an instance may get. Register 6 is the network, which is also the zone of connection tracking, since tenants
may have the same addresses. A packet that is dropped meets a rule whose cookie says why and whose
(`cookie`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from weir.base.cloud import CloudNode, CloudTopology, Instance, Network, Rule
from weir.plan.cloud.names import TO_TUNNELS, TO_VLANS, InstancePort
from weir.plan.cloud.neighbours import macs, others
from weir.plan.cloud.security.kind import SecurityKind

REASONS = (
    "spoofed_mac",
    "spoofed_arp",
    "spoofed_ip",
    "rogue_dhcp",
    "other_protocol",
    "invalid",
    "no_destination",
    "security_group",
)
"""Why a filter drops; the place in the tuple, from 1, is in the cookie."""
_ZONE = "zone=NXM_NX_REG6[0..15]"
_SERVER, _CLIENT = 67, 68  # RFC 2131


def cookie(reason: str, network: int, instance: int) -> int:
    """Reason, network and instance in bits 32, 16 and 0 on. `instance` 0: of none in particular."""
    return (REASONS.index(reason) + 1) << 32 | network << 16 | instance


def reading(cookie: int) -> tuple[str, int, int] | None:
    """What `cookie` put in; None if that is none of its."""
    reason = (cookie >> 32) - 1
    return (REASONS[reason], cookie >> 16 & 0xFFFF, cookie & 0xFFFF) if 0 <= reason < len(REASONS) else None


def _flows(topology: CloudTopology, node: CloudNode) -> Iterator[str]:
    yield "priority=0,actions=drop"
    yield "table=60,priority=5,arp,actions=NORMAL"
    # What others ask the DHCP server is no instance's here, and no harm.
    yield f"table=60,priority=5,udp,tp_src={_CLIENT},tp_dst={_SERVER},actions=drop"
    yield from _common()
    for network in topology.networks_at(node.name):
        yield from _of_network(topology, node, network)


def _common() -> Iterator[str]:
    invalid, tracked = cookie("invalid", 0, 0), "ct_state=+trk"
    yield f"table=3,priority=3,cookie={invalid},{tracked}+inv,actions=drop"
    yield f"table=3,priority=2,{tracked}+new-inv,ip,actions=ct(commit,{_ZONE}),resubmit(,2)"
    yield f"table=3,priority=1,{tracked},ip,actions=resubmit(,2)"
    yield f"table=4,priority=10,ip,actions=ct(table=5,{_ZONE})"
    yield f"table=5,priority=30,cookie={invalid},{tracked}+inv,actions=drop"


def _of_network(topology: CloudTopology, node: CloudNode, network: Network) -> Iterator[str]:
    wire = TO_VLANS if topology.isolation == "vlan" else TO_TUNNELS
    for instance in network.instances:
        if instance.node == node.name:
            yield from _from_instance(network, instance)
            yield from _to_instance(network, instance)
    for other in others(topology, node):
        for mac in macs(topology, network, other):
            match = f"reg6={network.number},dl_dst={mac}"
            yield f'table=2,priority=10,{match},actions=mod_vlan_vid:{network.number},output:"{wire}"'
    nowhere = cookie("no_destination", network.number, 0)
    yield f"table=2,priority=0,cookie={nowhere},reg6={network.number},actions=drop"
    yield f"table=60,priority=1,cookie={nowhere},dl_vlan={network.number},actions=drop"


def _from_instance(network: Network, instance: Instance) -> Iterator[str]:
    mac, address = instance.mac, instance.address
    port = f'in_port="{InstancePort.of(network, instance).tap}"'

    def drop(priority: int, reason: str, match: str = "") -> str:
        said = cookie(reason, network.number, instance.number)
        return f"table=1,priority={priority},cookie={said},{port}{match},actions=drop"

    # Matches of IPv4 and ARP take tagged frames too.
    tagged = cookie("other_protocol", network.number, instance.number)
    yield f"priority=11,cookie={tagged},{port},vlan_tci=0x1000/0x1000,actions=drop"
    yield f"priority=10,{port},actions=load:{network.number}->NXM_NX_REG6[],resubmit(,1)"
    own = f"{port},dl_src={mac}"
    for sender in (address, "0.0.0.0"):  # it probes an address before it has it (RFC 5227)
        yield f"table=1,priority=9,{own},arp,arp_spa={sender},arp_sha={mac},actions=NORMAL"
        client = f"udp,nw_src={sender},tp_src={_CLIENT},tp_dst={_SERVER}"
        yield f"table=1,priority=9,{own},{client},actions=NORMAL"
    yield drop(8, "spoofed_arp", f",dl_src={mac},arp")
    yield drop(8, "rogue_dhcp", f",dl_src={mac},udp,tp_src={_SERVER},tp_dst={_CLIENT}")
    yield f"table=1,priority=7,{own},ip,nw_src={address},actions=ct(table=3,{_ZONE})"
    for pair in _pairs(instance):
        yield f"table=1,priority=6,{own},{pair},actions=resubmit(,2)"
    yield drop(5, "spoofed_ip", f",dl_src={mac},ip")
    yield drop(4, "other_protocol", f",dl_src={mac}")
    yield drop(3, "spoofed_mac")


def _to_instance(network: Network, instance: Instance) -> Iterator[str]:
    tag = network.number
    known = f"reg6={tag},dl_dst={instance.mac}"
    out = f'output:"{InstancePort.of(network, instance).tap}"'
    take = f"load:{tag}->NXM_NX_REG6[],resubmit(,4)"
    yield f"table=60,priority=10,dl_vlan={tag},dl_dst={instance.mac},actions=strip_vlan,{take}"
    yield f"table=2,priority=10,{known},actions=resubmit(,4)"
    answer = f"udp,nw_src={network.dhcp},tp_src={_SERVER},tp_dst={_CLIENT}"
    yield f"table=4,priority=20,{known},{answer},actions={out}"
    yield f"table=4,priority=5,{known},arp,actions={out}"
    for pair in _pairs(instance):
        yield f"table=4,priority=15,{known},{pair},actions={out}"
    for state in ("+trk+est-inv", "+trk+rel-inv"):
        yield f"table=5,priority=20,{known},ct_state={state},ip,actions={out}"
    for let_in in _let_in(network):
        match = f"{known},ct_state=+trk+new-inv,{let_in}"
        yield f"table=5,priority=10,{match},actions=ct(commit,{_ZONE}),{out}"
    refused = cookie("security_group", network.number, instance.number)
    yield f"table=5,priority=0,cookie={refused},{known},actions=drop"


def _let_in(network: Network) -> Iterator[str]:
    """Matches of the security group: its own instances, and its rules."""
    own = [ipaddress.IPv4Address(one.address) for one in network.instances]
    for block in ipaddress.summarize_address_range(own[0], own[-1]):
        yield f"ip,nw_src={block}"
    for rule in network.ingress:
        yield from _rule(rule)


def _pairs(instance: Instance) -> Iterator[str]:
    """What a function forwards, both ways. Connections are followed at the ends' own ports alone: what a
    function sends in a host's name must not let its answer in at the host, whatever the host's group says."""
    for address in instance.allowed:
        yield from (f"ip,{end}={address}" for end in ("nw_src", "nw_dst"))


def _rule(rule: Rule) -> Iterator[str]:
    match = f"{'ip' if rule.protocol == 'any' else rule.protocol},nw_src={rule.source}"
    if rule.ports is None:
        yield match
        return
    for value, mask in port_blocks(*rule.ports):
        yield f"{match},tp_dst={value:#06x}/{mask:#06x}"


def port_blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Values and masks of 16 bits that together match first to last, and nothing else."""
    while first <= last:
        size = first & -first or 1 << 16
        while first + size - 1 > last:
            size >>= 1
        yield first, 0x10000 - size
        first += size


KIND = SecurityKind(
    sentence="Open vSwitch's flows filter, with connection tracking.",
    at_integration=lambda port: port.tap,
    flows=_flows,
    drops_in_switch=True,
)
