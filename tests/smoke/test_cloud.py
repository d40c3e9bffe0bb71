# SPDX-License-Identifier: Apache-2.0
"""A cloud of tenants: its instances get addresses, reach whom they may, and nobody else; filters count what
they drop. Three clouds, in which each way of filtering and each way of isolating is once."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
from pathlib import Path

import pytest

from weir import fabric
from weir.base.cloud import OUTSIDE
from weir.fabric import namespace
from weir.fabric.cloud.drops import drops

from .clouds import (
    ARP,
    CLOSED,
    EVERYBODY,
    IPV4,
    IPV6,
    NEEDS_CLOUDS,
    OPEN,
    VLAN,
    StandingCloud,
    arp,
    arrives,
    cloud_of_each,
    ethernet,
    frames,
    mac,
    standing,
    udp,
)
from .surroundings import Surroundings

pytestmark = NEEDS_CLOUDS

DATAGRAMS = 5000


def tenants(security: str, isolation: str, nodes: int) -> str:
    """Two customers with the same addresses."""
    ingress = [
        {"protocol": "tcp", "ports": [OPEN, OPEN]},
        {"protocol": "udp", "ports": [DATAGRAMS, DATAGRAMS]},
        {"protocol": "icmp"},
    ]
    return json.dumps(
        {
            "weir": 1,
            "name": "cloud",
            "cloud": {"security": security, "isolation": isolation, "compute_nodes": nodes},
            "tenants": [
                {"name": "blue", "instances": 3, "floating": 1, "ingress": ingress},
                {"name": "red", "instances": 2},
            ],
        }
    )


cloud = cloud_of_each(
    tenants,
    ("bridge-filter", "vxlan", 2),
    pytest.param(("ovs-conntrack", "gre", 2), marks=pytest.mark.long),
    pytest.param(("none", "vlan", 2), marks=pytest.mark.long),
)


def test_instances_have_the_addresses_that_the_dhcp_server_gave(cloud: StandingCloud) -> None:
    for network in cloud.topology.tenant_networks:
        for one in network.instances:
            assert cloud.addresses(one.name) == [f"{one.address}/24"]
            routes = cloud.run(one.name, "ip", "route", "show", "default").stdout
            assert f"via {network.router}" in routes
    log = (cloud.deployment.run_dir / "dhcp-blue.log").read_text()
    assert all(f"DHCPACK(eth0) 10.0.0.{number}" in log for number in (3, 4, 5))


def test_what_it_takes_to_build_a_cloud_is_not_counted_as_dropped(cloud: StandingCloud) -> None:
    assert not [one for one in drops(cloud.topology, cloud.deployment.run_dir) if one.packets]


def test_instances_of_a_tenant_reach_each_other_on_one_node_and_across(cloud: StandingCloud) -> None:
    blue = cloud.topology.tenant_networks[0].instances
    assert len({one.node for one in blue}) == 2
    for other in blue[1:]:
        with (
            cloud.stack(other.name, socket.SOCK_DGRAM) as there,
            cloud.stack("blue.1", socket.SOCK_DGRAM) as here,
        ):
            there.bind((other.address, 5000))
            payload = secrets.token_bytes(1472)  # a whole MTU
            here.sendto(payload, (other.address, 5000))
            assert there.recv(2048) == payload


def test_the_router_leads_outside_and_to_floating_addresses(cloud: StandingCloud) -> None:
    assert cloud.pings("red.2", cloud.topology.outside)
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.pings(OUTSIDE, floating)
    assert cloud.pings("red.1", floating)
    assert cloud.pings("blue.2", floating)  # by way of its own router


def test_who_comes_from_outside_is_seen_with_its_address_and_sees_the_floating_one(
    cloud: StandingCloud,
) -> None:
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.fetches(OUTSIDE, floating, OPEN, "blue.1") == cloud.topology.outside


def test_who_asks_for_a_floating_address_of_his_own_network_is_seen_as_from_outside(
    cloud: StandingCloud,
) -> None:
    """As Neutron's rules have it: a group that lets in the network outside lets in him, too."""
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.fetches("blue.2", floating, OPEN, "blue.1") == cloud.topology.tenant_networks[0].external
    assert cloud.fetches("blue.1", floating, OPEN, "blue.1") == floating


@pytest.mark.parametrize("size_bytes", [100, 8000], ids=["whole", "in-fragments"])
def test_what_the_security_group_lets_in_comes_in_whole_or_in_fragments(
    cloud: StandingCloud, size_bytes: int
) -> None:
    """But behind Open vSwitch's userspace datapath, which knows no ports of fragments."""
    payload = secrets.token_bytes(size_bytes)
    lost = 6 if size_bytes > 1500 and cloud.topology.security == "ovs-conntrack" else 0
    before = cloud.dropped("blue.1", "security_group") if lost else 0
    with (
        cloud.stack("blue.1", socket.SOCK_DGRAM) as there,
        cloud.stack(OUTSIDE, socket.SOCK_DGRAM) as client,
    ):
        there.bind(("0.0.0.0", DATAGRAMS))
        client.sendto(payload, (cloud.instance("blue.1").floating, DATAGRAMS))
        if lost:
            cloud.dropped_becomes("blue.1", "security_group", before + lost)
            return
        got, peer = there.recvfrom(9000)
        assert (got, peer[0]) == (payload, cloud.topology.outside)
        there.sendto(payload, peer)
        assert client.recv(9000) == payload


def test_fragments_of_what_the_security_group_refuses_do_not_come(filtered: StandingCloud) -> None:
    before = filtered.dropped("blue.1", "security_group")
    with (
        filtered.wire("blue.1") as wire,
        filtered.stack(OUTSIDE, socket.SOCK_DGRAM) as client,
    ):
        client.sendto(b"refused!" * 1000, (filtered.instance("blue.1").floating, CLOSED))
        assert not [frame for frame in frames(wire) if b"refused!" in frame]
    fragments = 6 if filtered.topology.security == "ovs-conntrack" else 1  # Linux counts what it put together
    filtered.dropped_becomes("blue.1", "security_group", before + fragments)


def test_the_security_group_refuses_other_ports_and_counts(filtered: StandingCloud) -> None:
    before = filtered.dropped("blue.1", "security_group")
    with filtered.stack(OUTSIDE, socket.SOCK_DGRAM) as client:
        for _ in range(5):
            client.sendto(b"anybody?", (filtered.instance("blue.1").floating, CLOSED))
    filtered.dropped_becomes("blue.1", "security_group", before + 5)


def test_metadata_is_refused_at_once(cloud: StandingCloud) -> None:
    with cloud.stack("blue.2", socket.SOCK_STREAM) as client, pytest.raises(ConnectionRefusedError):
        client.connect(("169.254.169.254", 80))


def test_no_frame_of_a_tenant_comes_to_another_who_has_the_same_addresses(cloud: StandingCloud) -> None:
    red = cloud.instance("red.1")
    own = {mac(one.mac) for one in cloud.topology.tenant_networks[1].instances}
    blue = {mac(one.mac) for one in cloud.topology.tenant_networks[0].instances}
    with (
        cloud.wire("blue.1") as one,
        cloud.wire("blue.2") as two,
        cloud.wire("red.2") as neighbour,
        cloud.wire("red.1") as sender,
    ):
        for to in (
            EVERYBODY,
            cloud.instance("blue.1").mac,
            cloud.instance("blue.2").mac,
            cloud.instance("red.2").mac,
        ):
            for target in ("10.0.0.3", "10.0.0.4", "10.0.0.5"):
                sender.send(ethernet(to, red.mac, ARP, arp(red.mac, red.address, target)))
                sender.send(ethernet(to, red.mac, IPV4, udp(red.address, target, (9, 9), b"to whom?")))
        assert [frame for frame in frames(neighbour) if frame[6:12] == mac(red.mac)]  # they were sent
        seen = [frame for wire in (one, two) for frame in frames(wire)]
    assert not [frame for frame in seen if frame[6:12] in own]
    with cloud.wire("red.2") as wire:
        cloud.pings("blue.2", "10.0.0.3")
        cloud.run("blue.2", "ping", "-b", "-c", "2", "-W", "1", "10.0.0.255")
        assert not [frame for frame in frames(wire) if frame[6:12] in blue]


@pytest.mark.parametrize(
    ("forgery", "reason"),
    [
        *((one, one) for one in ("spoofed_mac", "spoofed_arp", "spoofed_ip", "rogue_dhcp", "other_protocol")),
        ("tagged", "other_protocol"),
    ],
)
def test_what_an_instance_may_not_send_is_dropped_by_its_reason(
    filtered: StandingCloud, forgery: str, reason: str
) -> None:
    sender, victim = filtered.instance("blue.1"), filtered.instance("blue.2")
    to, own, addresses = victim.mac, sender.mac, (sender.address, victim.address)
    forged = {
        "spoofed_mac": ethernet(to, victim.mac, IPV4, udp(sender.address, victim.address, (9, 9), b"?")),
        "spoofed_arp": ethernet(EVERYBODY, own, ARP, arp(own, "10.0.0.1", victim.address)),
        "spoofed_ip": ethernet(to, own, IPV4, udp("10.0.0.9", victim.address, (9, 9), b"?")),
        "rogue_dhcp": ethernet(to, own, IPV4, udp(sender.address, victim.address, (67, 68), b"?")),
        "other_protocol": ethernet("33:33:00:00:00:01", own, IPV6, bytes(40)),
        "tagged": ethernet(to, own, VLAN, bytes.fromhex("00010800") + udp(*addresses, (9, 9), b"?")),
    }[forgery]
    before = filtered.dropped("blue.1", reason)
    with filtered.wire("blue.2") as wire, filtered.wire("blue.1") as sending:
        for _ in range(7):
            sending.send(forged)
        assert forged not in [frame[: len(forged)] for frame in frames(wire)]
    filtered.dropped_becomes("blue.1", reason, before + 7)


def test_without_filters_a_forged_packet_arrives(cloud: StandingCloud) -> None:
    if cloud.topology.security != "none":
        pytest.skip("it is filtered there")
    sender, victim = cloud.instance("blue.1"), cloud.instance("blue.3")
    forged = ethernet(victim.mac, sender.mac, IPV4, udp("10.0.0.9", victim.address, (9, 9), b"?"))
    with cloud.wire("blue.3") as wire, cloud.wire("blue.1") as sending:
        sending.send(forged)
        assert arrives(wire, forged)


def test_instances_know_the_names_of_their_own_tenant_alone(cloud: StandingCloud) -> None:
    text = (cloud.deployment.run_dir / "blue.hosts").read_text()
    assert "10.0.0.4 blue.2" in text
    assert "red" not in text


def test_what_was_built_is_gone_after_destroy(run_root: Path) -> None:
    token = secrets.token_hex(4)
    surroundings = Surroundings(run_root, "cloud", token)
    try:
        with standing(tenants("bridge-filter", "vxlan", 1), token) as made:
            with namespace.inside(made.topology.namespace("blue.1")):
                left = subprocess.Popen(["sleep", "3600"])
            assert len(fabric.deployments()) == 1
        assert left.wait(5) != 0  # what somebody left running there has been ended
        surroundings.check("destroyed")
    finally:
        surroundings.remove()
