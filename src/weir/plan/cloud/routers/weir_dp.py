# SPDX-License-Identifier: Apache-2.0
"""Weir's router in a tenant's router's place: acl, nat and l3fwd in weir-dp, with sockets at the interfaces
that Linux's router has, in its namespace. It does what Linux's rules do there (`rules` of linux.py): shares
the external address, gives floating ones, lets nothing in that nobody asked for, and nobody to metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.base.cloud import NETWORK_NODE, CloudTopology, TenantNetwork, router_name
from weir.base.step import Step
from weir.lab.nf import Scalar
from weir.lab.router import INSIDE, OUTSIDE, Floating, RouterOptions, Tenant
from weir.plan.architecture import native_options
from weir.plan.cloud import names
from weir.plan.cloud.parts import interface, ruleset, silent
from weir.plan.cloud.routers.kind import METADATA, InDataPlane, RouterKind, hosts_behind, wires
from weir.plan.topology import NETNS_DIRECTORY
from weir.protocol.configuration import ChainArea, PathConfig, PortConfig, StageConfig

SESSIONS = 65_536
"""Translations of one tenant at a time, and remote ends that may answer."""
MEMORY_MB = 64
"""Of one: sessions, remotes, fragments, neighbours."""
_RING_FRAMES = 4096
_UNTRACKED = "*raw\n-A PREROUTING -j DROP\nCOMMIT\n"
"""The namespace's own stack has nothing to do with what weir-dp has had a copy of."""


def _steps(topology: CloudTopology, network: TenantNetwork) -> Iterator[Step]:
    netns, called = topology.namespace(router_name(network)), router_name(network)
    yield from silent(netns)
    yield ruleset(netns, "iptables", _UNTRACKED, f"leave what reaches {called} to weir-dp")
    yield from wires(topology, network, NETWORK_NODE)
    for name, mac in ((names.INNER, network.router_mac), (names.OUTER, network.external_mac)):
        yield interface(netns, name, mac, [], at=called, host=False)


def _port_names(network: TenantNetwork) -> tuple[str, str]:
    """Inside, outside."""
    return f"{router_name(network)}.inside", f"{router_name(network)}.outside"


def _ports(topology: CloudTopology, network: TenantNetwork) -> Sequence[PortConfig]:
    netns = f"{NETNS_DIRECTORY}/{topology.namespace(router_name(network))}"
    return [
        PortConfig(
            name=name,
            kind="packet_socket",
            interface=interface,
            netns=netns,
            rx_queue_size=_RING_FRAMES,
            tx_queue_size=_RING_FRAMES,
        )
        for name, interface in zip(_port_names(network), (names.INNER, names.OUTER), strict=True)
    ]


def _area(topology: CloudTopology, network: TenantNetwork) -> ChainArea:
    inside, outside = _port_names(network)
    stages = _stages(topology, network)
    outputs = (outside, inside)
    assert (outputs[OUTSIDE], outputs[INSIDE]) == (outside, inside)
    back = tuple(StageConfig(nf=one.nf, name=one.name) for one in stages if one.nf != "acl")
    core = topology.polling_core
    assert core is not None
    return ChainArea(
        name=router_name(network),
        core=core,
        kind="chain",
        paths=(
            PathConfig(name="out", direction="outbound", in_=inside, stages=stages, out=outputs),
            PathConfig(name="in", direction="inbound", in_=outside, stages=back, out=outputs),
        ),
    )


def _stages(topology: CloudTopology, network: TenantNetwork) -> tuple[StageConfig, ...]:
    """On the way out; back, a packet is translated, and then routed."""
    length = topology.external.partition("/")[2]
    way = topology.way_out(network)
    router = RouterOptions(
        tenants=(Tenant(prefix=network.subnet, address=network.router),),
        external=f"{network.external}/32",
        address=f"{network.external}/{length}",
        gateway=way,
        floating=tuple(
            Floating(external=one.floating, to=one.address)
            for one in network.instances
            if one.floating is not None
        ),
        sessions=SESSIONS,
    )
    more: dict[str, dict[str, Scalar]] = {
        "nat": {
            "filtering": "address-and-port-dependent",  # as Linux's connection tracking
            "remotes": SESSIONS,
            "hairpin_output": INSIDE,
            "lanes": 1,  # of one worker
        },
        "l3fwd": {"src_mac": network.external_mac, "inbound_src_mac": network.router_mac},
    }
    wall: tuple[str, dict[str, Scalar]] = (
        "acl",
        {"rule_list": f"deny any any {METADATA}", "default": "permit", "not_ipv4": "forward"},
    )
    stages = (wall, *router.stages())
    routes = [f"{host}/32 via {last}" for host, last in hosts_behind(network)]
    routes += [f"{topology.outside}/32 via {way}"] if way != topology.outside else []
    made = []
    for nf, given in stages:
        options = given | more.get(nf, {})
        if nf == "l3fwd":
            options["route_list"] = ", ".join([str(options["route_list"]), *routes])
        made.append(StageConfig(nf=nf, name=nf, options=native_options(options)))
    return tuple(made)


KIND = RouterKind(
    sentence="Weir routes for each tenant: acl, nat and l3fwd in weir-dp's loop.",
    steps=_steps,
    in_data_plane=InDataPlane(ports=_ports, area=_area, memory_mb=MEMORY_MB),
)
