# SPDX-License-Identifier: Apache-2.0
"""Clouds as they are planned: names and addresses are each once, and rules match what they are for."""

from __future__ import annotations

import ipaddress
import itertools
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.base.cloud import NETWORK_NODE, CloudTopology, Isolation, Security
from weir.lab.tenants import Cloud, Tenant, TenantFunction, TenantsFile
from weir.plan.cloud import cloud_steps, cloud_topology, flows
from weir.plan.cloud.security import bridge_filter, ovs_conntrack
from weir.plan.cloud.topology import outer_addresses

DEPLOYMENT = "cloud-12345678"
CHAIN = tuple(TenantFunction(name=name) for name in ("dpi", "firewall", "shaper"))


def topology(**cloud: object) -> CloudTopology:
    tenants = (
        Tenant(name="blue", instances=5, floating=2),
        Tenant(name="red", count=3, instances=2, subnet="192.0.2.0/24", functions=CHAIN),
    )
    options = Cloud.model_validate(cloud)
    return cloud_topology(TenantsFile(weir=1, name="cloud", cloud=options, tenants=tenants), DEPLOYMENT)


@pytest.mark.parametrize("security", get_args(Security))
@pytest.mark.parametrize("isolation", get_args(Isolation))
def test_each_step_and_each_interface_has_a_name_of_its_own(security: str, isolation: str) -> None:
    steps = cloud_steps(topology(security=security, isolation=isolation, compute_nodes=2))
    names = [step.name for step in steps]
    assert len(set(names)) == len(names)
    made = [
        (step.params[f"{end}netns"], str(step.params[f"{end}interface"]))
        for step in steps
        if step.kind == "veth"
        for end in ("", "peer_")
    ]
    assert len(set(made)) == len(made)
    assert all(len(interface) <= 15 for _, interface in made)
    known = {step.params["netns"] for step in steps if step.kind == "netns"}
    assert {netns for netns, _ in made} <= known


def test_addresses_are_each_once_where_they_meet() -> None:
    cloud = topology(compute_nodes=2)
    macs, outside = [], [cloud.outside]
    for network in cloud.tenant_networks:
        inside = [network.router, network.dhcp, *(one.address for one in network.instances)]
        assert len(set(inside)) == len(inside)
        assert all(ipaddress.ip_address(one) in ipaddress.ip_network(network.subnet) for one in inside)
        macs += [network.router_mac, network.dhcp_mac, network.external_mac]
        macs += [one.mac for one in network.instances]
        outside += [network.external, *(one.floating for one in network.instances if one.floating)]
    assert len(set(macs)) == len(macs)
    assert len(set(outside)) == len(outside)
    assert {one.node for network in cloud.tenant_networks for one in network.instances} == {
        "compute1",
        "compute2",
    }


def test_numbers_on_the_wire_are_others_than_within_a_node() -> None:
    for isolation in get_args(Isolation):
        networks = topology(isolation=isolation).tenant_networks
        assert {one.number for one in networks}.isdisjoint(one.segmentation_id for one in networks)


SHARED_NAMES = ["shared.dpi", "shared.firewall", "shared.shaper"]


def sharing(**cloud: object) -> CloudTopology:
    """Blue, whose packets go through what is shared, and red, whose do not."""
    tenants = (
        Tenant(name="blue", count=2, instances=2, floating=1),
        Tenant(name="red", shared=False, floating=1),
    )
    options = Cloud.model_validate({"functions": CHAIN, **cloud})
    return cloud_topology(TenantsFile(weir=1, name="cloud", cloud=options, tenants=tenants), DEPLOYMENT)


def routes_of(cloud: CloudTopology, step: str) -> dict[str, str]:
    """Where to by whom, of an interface."""
    (found,) = [one for one in cloud_steps(cloud) if one.name == step]
    routes = found.params["routes"]
    assert isinstance(routes, list)
    return {to: by for to, _, by in (str(one).partition(" via ") for one in routes)}


def test_ways_out_lead_through_what_is_shared_and_back_through_the_same() -> None:
    cloud = sharing()
    assert cloud.shared is not None
    shared = cloud.shared.functions
    assert [one.name for one in shared] == SHARED_NAMES
    dpi, firewall, shaper = (one.address for one in shared)
    blue = routes_of(cloud, "interface:blue-1.router.qg")
    assert blue == {"default": dpi, f"{cloud.outside}/32": dpi}
    assert routes_of(cloud, "interface:red.router.qg") == {"default": cloud.outside}
    ways = {
        one.name: {to: by for to, _, by in (way.partition(" via ") for way in one.routes)} for one in shared
    }
    assert [one.gateway for one in shared] == [firewall, shaper, cloud.outside]
    out = f"{cloud.outside}/32"
    assert [ways[name].get(out) for name in SHARED_NAMES] == [firewall, shaper, None]
    behind = {one for network in cloud.tenant_networks[:2] for one in outer_addresses(network)}
    assert len(behind) == 4
    for address in behind:
        back = [ways[name].get(f"{address}/32") for name in SHARED_NAMES]
        assert back == [None, dpi, firewall]
    outside = routes_of(cloud, "interface:outside.eth0")
    assert outside == dict.fromkeys((f"{one}/32" for one in behind), shaper)
    assert all(set(one.allowed) == behind for one in shared)


@pytest.mark.parametrize("isolation", get_args(Isolation))
@pytest.mark.parametrize("security", get_args(Security))
def test_what_is_shared_is_on_a_segment_of_its_own_with_every_router(isolation: str, security: str) -> None:
    cloud = sharing(isolation=isolation, security=security, compute_nodes=2)
    assert cloud.shared is not None
    numbers = [one.number for one in cloud.all_networks()]
    assert numbers == sorted(set(numbers))
    macs = [one.router_mac for one in cloud.all_networks()] + [
        one.external_mac for one in cloud.tenant_networks
    ]
    macs += [one.dhcp_mac for one in cloud.all_networks()] + [one.mac for _, one in cloud.all_instances()]
    assert len(set(macs)) == len(macs)
    steps = {step.name: step for step in cloud_steps(cloud)}
    assert len(steps) == len(cloud_steps(cloud))
    words = steps["ovs-ports:network"].params["words"]
    assert isinstance(words, list)
    tagged = dict(itertools.pairwise(words))
    assert {tagged[f"qg{one.number}"] for one in cloud.tenant_networks} == {f"tag={cloud.shared.number}"}
    if isolation != "vlan":
        rules = "\n".join(flows.tunnel_bridge(cloud, cloud.node("compute1")))
        for one in cloud.tenant_networks:
            assert f"dl_vlan={cloud.shared.number},dl_dst={one.external_mac}," in rules


@given(st.integers(1, 65535), st.integers(1, 65535))
def test_blocks_of_ports_match_the_range_and_nothing_else(one: int, other: int) -> None:
    first, last = min(one, other), max(one, other)
    blocks = list(ovs_conntrack.port_blocks(first, last))
    assert sum(0x10000 - mask for _, mask in blocks) == last - first + 1
    assert all(value & ~mask & 0xFFFF == 0 for value, mask in blocks)
    assert [value for value, _ in blocks] == sorted(value for value, _ in blocks)
    assert blocks[0][0] == first
    assert blocks[-1][0] + 0x10000 - blocks[-1][1] - 1 == last


@given(st.sampled_from(ovs_conntrack.REASONS), st.integers(0, 4095), st.integers(0, 64))
def test_a_cookie_says_what_was_put_in(reason: str, network: int, instance: int) -> None:
    assert ovs_conntrack.reading(ovs_conntrack.cookie(reason, network, instance)) == (
        reason,
        network,
        instance,
    )


def test_a_cookie_of_no_filter_says_nothing() -> None:
    assert ovs_conntrack.reading(0) is None
    assert ovs_conntrack.reading((len(ovs_conntrack.REASONS) + 1) << 32) is None


def test_frames_for_everybody_go_to_nodes_of_the_network_alone() -> None:
    cloud = topology(compute_nodes=2)
    (red,) = [one for one in cloud.tenant_networks if one.name == "red-1"]
    rules = list(flows.tunnel_bridge(cloud, cloud.node(NETWORK_NODE)))
    (flood,) = [one for one in rules if f"table=22,priority=1,dl_vlan={red.number}," in one]
    nodes = {one.node for one in red.instances}
    assert all((f'"tun-{node}"' in flood) == (node in nodes) for node in ("compute1", "compute2"))


def test_an_instance_may_send_from_its_own_addresses_alone() -> None:
    cloud = topology(security="bridge-filter")
    rules = bridge_filter.anti_spoofing(cloud, cloud.node("compute1"))
    for network, one in cloud.instances_at("compute1"):
        chain = rules.split(f"chain from_{network.number}_{one.number} {{")[1].split("}\n  chain")[0]
        assert f"ether saddr != {one.mac}" in chain
        assert f"ip saddr != {one.address} counter" in chain
        assert f'"tap{network.number}.{one.number}" : jump' in rules


def test_ways_lead_through_every_function_and_back_through_the_same_ones() -> None:
    network = topology().tenant_networks[1]
    by_address = {one.address: one for one in network.instances}
    host = by_address[network.instances[0].address]
    out, at = [], host
    while at.gateway != network.router:
        at = by_address[at.gateway]
        out.append(at)
    assert [one.name for one in out] == ["red-1.dpi", "red-1.firewall", "red-1.shaper"]
    back = [at.address]
    while by_address[back[-1]].routes:
        (way,) = [one for one in by_address[back[-1]].routes if one.startswith(f"{host.address}/32 via ")]
        back.append(way.split()[-1])
    assert back == [one.address for one in reversed(out)]
    (router,) = [step for step in cloud_steps(topology()) if step.name == "interface:red-1.router.qr"]
    routes = router.params["routes"]
    assert isinstance(routes, list)
    assert f"{host.address}/32 via {at.address}" in routes


def test_without_functions_hosts_have_the_router_and_no_pairs() -> None:
    network = topology().tenant_networks[0]
    assert not network.functions
    assert all(
        (one.gateway, one.allowed, one.routes) == (network.router, (), ()) for one in network.instances
    )


def test_allowed_address_pairs_are_of_functions_and_name_the_hosts_of_their_own_tenant_alone() -> None:
    for network in topology().tenant_networks[1:]:
        hosts = {one.address for one in network.instances if one not in network.functions}
        assert {one.name for one in network.functions} == {
            f"{network.name}.{name}" for name in ("dpi", "firewall", "shaper")
        }
        assert all(set(one.allowed) == hosts for one in network.functions)
