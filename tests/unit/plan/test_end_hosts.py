# SPDX-License-Identifier: Apache-2.0
"""Hosts in the tester's place: their addresses, whom they know, and what makes them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

import pytest

from weir import plan
from weir.base.error import USAGE
from weir.base.topology import Topology
from weir.lab import Lab
from weir.plan import Plan, end_hosts
from weir.plan.end_hosts import NoHostsError
from weir.plan.topology import next_hop
from weir.protocol.configuration import ChainArea

from .test_topology import DEPLOYMENT, lab

IPV4 = ("198.18.0.1", "198.19.0.1")
IPV6 = ("2001:2:0:1::1", "2001:2:0:2::1")
JOINING = ("direct", "linux-bridge", "ovs", "ovs-dpdk")


def lab_of(*functions: dict[str, Any], **parts: object) -> Lab:
    """A chain of these functions."""
    named = {f"one{number}": function for number, function in enumerate(functions, 1)}
    return lab(functions=named, chain=[list(named)], **parts)


def hosts(technology: str, *functions: dict[str, Any], **parts: object) -> Topology:
    made = lab_of(*functions, **parts)
    return end_hosts.with_hosts(plan.build_topology(made, technology, made.chains()[0], DEPLOYMENT), made)


def nf(name: str, **options: object) -> dict[str, Any]:
    return {"nf": name, "options": options}


def options_of(area: str, planned: Plan) -> Mapping[str, object]:
    """Of its only function."""
    (found,) = (one for one in planned.configure.areas if one.name == area)
    assert isinstance(found, ChainArea)
    return found.paths[0].stages[0].options


@pytest.mark.parametrize(
    ("function", "addresses", "given"),
    [
        (nf("l2fwd"), (*IPV4[:1], *IPV6[:1]), []),
        (nf("impair"), (*IPV4[:1], *IPV6[:1]), []),
        (nf("policer", tenants="default srtcm cir_bps=1 cbs_bytes=1 ebs_bytes=1"), (IPV4[0], IPV6[0]), []),
        (nf("shaper", tenants="default rate_bps=1000"), (IPV4[0], IPV6[0]), []),
        (nf("dpi", ipv6="forward"), (IPV4[0], IPV6[0]), []),
        (nf("dpi"), IPV4[:1], []),
        (nf("lb", services="203.0.113.1:80/tcp 198.19.0.1:80", ipv6="forward"), (IPV4[0], IPV6[0]), []),
        (nf("lb", services="203.0.113.1:80/tcp 198.19.0.1:80"), IPV4[:1], []),
        (nf("acl"), (IPV4[0], IPV6[0]), [IPV4[1]]),
        (nf("acl", ipv6="drop"), IPV4[:1], [IPV4[1]]),
        (nf("acl", neighbor_discovery="drop"), (IPV4[0], IPV6[0]), [IPV4[1], IPV6[1]]),
        (nf("acl", not_ipv4="forward"), (IPV4[0], IPV6[0]), []),
        (nf("firewall"), (IPV4[0], IPV6[0]), [IPV4[1]]),
        (nf("firewall", not_ipv4="forward"), (IPV4[0], IPV6[0]), []),
        (nf("firewall", arp="forward"), (IPV4[0], IPV6[0]), []),
        (nf("firewall", not_ipv4="forward", ipv6="drop"), IPV4[:1], []),
        (nf("acl", not_ipv4="forward", arp="drop"), (IPV4[0], IPV6[0]), [IPV4[1]]),
        (nf("nat", external="203.0.113.0/28"), IPV4[:1], [IPV4[1]]),
        (nf("l3fwd"), (IPV4[0], IPV6[0]), [IPV4[1], IPV6[1]]),
        (nf("l3fwd", route_list="198.18.0.0/15 default"), IPV4[:1], [IPV4[1]]),
        (nf("l3fwd", route_list="2001:2::/48 default"), IPV6[:1], [IPV6[1]]),
    ],
)
def test_a_host_has_what_the_chain_carries_and_is_told_what_it_cannot_resolve(
    function: dict[str, Any], addresses: tuple[str, ...], given: list[str]
) -> None:
    left = hosts("direct", function).end_hosts[0]
    assert left.addresses == addresses
    assert [one.address for one in left.neighbours] == given
    assert bool(left.neighbours_because) == bool(given)
    assert bool(left.no_address_because) == (len(addresses) == 1)


def test_linux_between_hosts_routes_and_resolves_nothing_for_them() -> None:
    left = hosts("linux-bridge", {"kind": "kernel"}).end_hosts[0]
    assert left.addresses == (IPV4[0], IPV6[0])
    assert [one.address for one in left.neighbours] == [IPV4[1], IPV6[1]]
    assert left.neighbours_because == "Linux in f1 drops ARP and Neighbor Discovery"
    translating = {"kind": "kernel", "nf": "nat", "options": {"external": "203.0.113.1/32"}}
    assert hosts("linux-bridge", translating).end_hosts[0].no_address_because == "nat in f1 drops IPv6"


def test_frames_between_linux_and_a_host_are_addressed_to_each_other() -> None:
    made = lab_of({"kind": "kernel"}, technology="linux-bridge")
    built = hosts("linux-bridge", {"kind": "kernel"})
    left, right = built.end_hosts
    assert {one.mac for one in left.neighbours} == {built.port("f1.left").mac}
    assert {one.mac for one in right.neighbours} == {built.port("f1.right").mac}
    (routes,) = (one for one in end_hosts.planned(built, made).steps if one.kind == "static-routes")
    neighbours = routes.params["neighbours"]
    assert isinstance(neighbours, list)
    macs = {str(one).split()[2] for one in neighbours}
    assert macs == {built.port("hosts.left").mac, built.port("hosts.right").mac}


def test_linux_routes_back_to_hosts_whatever_addresses_the_tester_would_vary() -> None:
    varied = {
        "src_ip": {"values": ["10.1.0.1", "10.1.0.9"]},
        "dst_ip": {"values": ["198.18.0.7", "10.1.0.5"]},
    }
    made = lab_of({"kind": "kernel"}, technology="linux-bridge", traffic={"fields": varied})
    built = end_hosts.with_hosts(
        plan.build_topology(made, "linux-bridge", made.chains()[0], DEPLOYMENT), made
    )
    (routes,) = (one for one in end_hosts.planned(built, made).steps if one.kind == "static-routes")
    assert isinstance(routes.params["routes"], list)
    by = [str(one).split(" via ") for one in routes.params["routes"]]
    for host in built.end_hosts:
        for address in map(ipaddress.ip_address, host.addresses):
            (dev,) = {via.split()[-1] for prefix, via in by if address in ipaddress.ip_network(prefix)}
            assert dev == host.side


def test_the_chain_carries_what_all_its_functions_do() -> None:
    built = hosts("linux-bridge", nf("l2fwd"), nf("firewall", not_ipv4="forward"), nf("l3fwd"))
    left = built.end_hosts[0]
    assert left.addresses == (IPV4[0], IPV6[0])
    assert left.neighbours_because == "l3fwd in f3 drops ARP and Neighbor Discovery"


def test_frames_are_addressed_to_the_next_function_that_writes_addresses_and_last_to_the_host() -> None:
    made = lab_of(nf("firewall"), nf("l3fwd"), nf("nat", external="203.0.113.0/28"))
    built = hosts("linux-bridge", nf("firewall"), nf("l3fwd"), nf("nat", external="203.0.113.0/28"))
    left, right = built.end_hosts
    assert [one.mac for one in left.neighbours] == [built.port("f2.left").mac]
    assert [one.mac for one in right.neighbours] == [built.port("f2.right").mac]
    options = options_of("f2", end_hosts.planned(built, made))
    assert options["dst_mac"] == built.port("hosts.right").mac
    assert options["inbound_dst_mac"] == built.port("hosts.left").mac


def test_with_the_tester_frames_are_addressed_to_the_next_port_as_ever() -> None:
    made = lab_of(nf("l3fwd"), nf("firewall"))
    built = plan.build_topology(made, "linux-bridge", made.chains()[0], DEPLOYMENT)
    options = options_of("f1", Plan.of(built, made))
    assert options["dst_mac"] == next_hop(built, built.port("f1.right")).mac


def test_the_labs_own_addresses_are_the_hosts_and_the_other_version_has_the_usual_ones() -> None:
    traffic = {
        "left": {"address": "192.0.2.1", "to_address": "203.0.113.9"},
        "right": {"address": "192.0.2.2"},
    }
    left, right = hosts("direct", nf("l2fwd"), traffic=traffic).end_hosts
    assert (left.addresses, right.addresses) == (("192.0.2.1", IPV6[0]), ("192.0.2.2", IPV6[1]))
    assert (left.peers, left.reached) == (("192.0.2.2", IPV6[1]), ("203.0.113.9", IPV6[1]))
    assert right.reached == left.addresses


@pytest.mark.parametrize("technology", JOINING)
def test_weir_dp_opens_the_ports_of_functions_alone_and_generates_nothing(technology: str) -> None:
    made = lab_of(nf("l2fwd"), nf("l3fwd"))
    planned = end_hosts.planned(hosts(technology, nf("l2fwd"), nf("l3fwd")), made)
    assert {port.name for port in planned.configure.ports} == {"f1.left", "f1.right", "f2.left", "f2.right"}
    assert {area.kind for area in planned.configure.areas} == {"chain"}
    assert planned.streams == {}


@pytest.mark.parametrize("technology", JOINING)
def test_each_host_has_an_interface_in_a_namespace_of_its_own_before_it_is_set_up(technology: str) -> None:
    made = lab_of(nf("l2fwd"), nf("l2fwd"))
    done: set[object] = set()
    for step in end_hosts.planned(hosts(technology, nf("l2fwd"), nf("l2fwd")), made).steps:
        if step.kind == "end-host":
            assert (step.params["netns"], step.params["interface"]) in done
        if step.kind == "veth":
            done.add((step.params["netns"], step.params["interface"]))
            done.add((step.params["peer_netns"], step.params["peer_interface"]))
        done.add(step.kind)
    assert "end-host" in done


def test_a_wire_to_a_host_is_a_veth_pair_and_wires_between_functions_stay_as_they_are() -> None:
    built = hosts("direct", nf("l2fwd"), nf("l2fwd"))
    assert [port.kind for port in built.ports] == [
        "host",
        "packet_socket",
        "virtio-user",
        "vhost",
        "packet_socket",
        "host",
    ]


@pytest.mark.parametrize("technology", JOINING)
def test_cores_of_the_tester_are_left_to_what_runs_in_the_hosts(technology: str) -> None:
    cores = {"tester": [2], "functions": [3], "switch": [4]}
    built = hosts(technology, nf("l2fwd"), cores=cores)
    used = {core for node in built.nodes for core in node.cores} | set(built.switch_cores)
    assert used == ({3, 4} if technology in ("ovs", "ovs-dpdk") else {3})


BY_XDP = nf("l2fwd", mode="mac-swap") | {"kind": "kernel", "kernel": {"counterpart": "xdp"}}


@pytest.mark.parametrize(
    ("technology", "function", "parts", "said"),
    [
        (
            "sr-iov",
            nf("l2fwd"),
            {},
            "sr-iov has no place for hosts at the ends: its ports are a network card's",
        ),
        ("direct", nf("l2fwd"), {"traffic": {"vlan": 7}}, "leave traffic.vlan out"),
        ("direct", nf("l2fwd", mode="mac-swap"), {}, "expected mode: mac-rewrite"),
        ("linux-bridge", BY_XDP, {}, "expected mode: mac-rewrite"),
        ("direct", nf("sink"), {}, "sink in f1 drops IPv4 and IPv6"),
        ("linux-bridge", {"kind": "vm", "nf": "l2fwd"}, {}, "f1 is of kind vm"),
    ],
)
def test_a_chain_that_no_host_can_use_is_refused_with_the_reason(
    technology: str, function: dict[str, Any], parts: dict[str, Any], said: str
) -> None:
    with pytest.raises(NoHostsError, match=said) as refused:
        hosts(technology, function, **parts)
    assert refused.value.exit_code == USAGE


ADDRESSES = {
    "inbound_addresses": "198.18.0.254/24, 2001:2:0:1::fe/64",
    "addresses": "198.19.0.254/24, 2001:2:0:2::fe/64",
}


def test_hosts_route_by_a_router_that_has_an_address_in_their_network_and_resolve_it() -> None:
    built = hosts("linux-bridge", nf("firewall", not_ipv4="forward"), nf("l3fwd", **ADDRESSES))
    left, right = built.end_hosts
    assert (left.peers, left.neighbours) == (("198.18.0.254", "2001:2:0:1::fe"), ())
    assert (right.peers, right.neighbours) == (("198.19.0.254", "2001:2:0:2::fe"), ())
    assert left.reached == right.addresses


def test_a_router_behind_what_drops_arp_or_of_another_network_is_given_as_before() -> None:
    left, right = hosts(
        "direct", nf("firewall", neighbor_discovery="drop"), nf("l3fwd", **ADDRESSES)
    ).end_hosts
    assert (left.peers, [one.address for one in left.neighbours]) == (right.addresses, list(right.addresses))
    assert (right.peers, right.neighbours) == (("198.19.0.254", "2001:2:0:2::fe"), ())
    elsewhere = nf("l3fwd", addresses="192.0.2.1/24", route_list="198.18.0.0/15 default")
    left, right = hosts("direct", elsewhere).end_hosts
    assert (left.peers, right.peers) == ((IPV4[1],), (IPV4[0],))


def test_a_router_with_addresses_has_both_ports_on_each_path_and_knows_the_inner_one() -> None:
    made = lab_of(nf("l3fwd", **ADDRESSES))
    built = plan.build_topology(made, "direct", made.chains()[0], DEPLOYMENT)
    (area,) = (one for one in Plan.of(built, made).configure.areas if one.name == "f1")
    assert isinstance(area, ChainArea)
    assert [path.outputs for path in area.paths] == [("f1.right", "f1.left")] * 2
    assert area.paths[0].stages[0].options["inside_output"] == 1
