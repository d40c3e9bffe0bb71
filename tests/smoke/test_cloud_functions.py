# SPDX-License-Identifier: Apache-2.0
"""Functions in tenants' networks: what hosts and the outside send each other goes through them, both ways;
they may send from and to those they forward for, and nothing else; filters of the hosts hold behind them."""

from __future__ import annotations

import json
import secrets
import socket

import pytest

from weir.base.cloud import OUTSIDE
from weir.plan.cloud.names import INNER

from .clouds import (
    CLOSED,
    EVERYBODY,
    IPV4,
    NEEDS_CLOUDS,
    OPEN,
    StandingCloud,
    cloud_of_each,
    ethernet,
    frames,
    mac,
    udp,
)

pytestmark = [*NEEDS_CLOUDS, pytest.mark.long]

TIMES = 5
CHAIN = ("blue.dpi", "blue.firewall")


def tenants(security: str, isolation: str) -> str:
    """Two customers with the same addresses, each with functions of its own."""
    return json.dumps(
        {
            "weir": 1,
            "name": "cloud",
            "cloud": {"security": security, "isolation": isolation, "compute_nodes": 2},
            "tenants": [
                {
                    "name": "blue",
                    "instances": 2,
                    "floating": 1,
                    "functions": [{"name": "dpi"}, {"name": "firewall", "kind": "kernel"}],
                    "ingress": [{"protocol": "tcp", "ports": [OPEN, OPEN]}],
                },
                {"name": "red", "instances": 1, "functions": [{"name": "dpi"}]},
            ],
        }
    )


cloud = cloud_of_each(
    tenants,
    ("bridge-filter", "vxlan"),
    pytest.param(("ovs-conntrack", "gre"), marks=pytest.mark.long),
    pytest.param(("none", "vlan"), marks=pytest.mark.long),
)


def router_mac(cloud: StandingCloud) -> str:
    return cloud.topology.tenant_networks[0].router_mac


@pytest.mark.long
@pytest.mark.parametrize("host", ["blue.1", "blue.2", "red.1"])
def test_what_a_host_and_the_outside_say_goes_through_each_function_of_its_tenant_alone(
    cloud: StandingCloud, host: str
) -> None:
    every = (*CHAIN, "red.dpi")
    before = [cloud.forwarded(one) for one in every]
    for _ in range(TIMES):
        assert cloud.pings(host, cloud.topology.outside)
    more = [cloud.forwarded(one) - first for one, first in zip(every, before, strict=True)]
    own = 2 * TIMES  # asked and answered
    assert more == ([0, 0, own] if host == "red.1" else [own, own, 0])


def test_hosts_of_a_tenant_reach_each_other_without_its_functions(cloud: StandingCloud) -> None:
    before = [cloud.forwarded(one) for one in CHAIN]
    assert cloud.pings("blue.1", cloud.instance("blue.2").address)
    assert [cloud.forwarded(one) for one in CHAIN] == before


def test_a_connection_from_outside_comes_through_the_functions(cloud: StandingCloud) -> None:
    before = [cloud.forwarded(one) for one in CHAIN]
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.fetches(OUTSIDE, floating, OPEN, "blue.1") == cloud.topology.outside
    assert all(cloud.forwarded(one) > first for one, first in zip(CHAIN, before, strict=True))


def test_behind_functions_the_security_group_refuses_and_counts_all_the_same(filtered: StandingCloud) -> None:
    before = filtered.dropped("blue.1", "security_group")
    floating = filtered.instance("blue.1").floating
    with (
        filtered.stack("blue.1", socket.SOCK_DGRAM) as server,
        filtered.stack(OUTSIDE, socket.SOCK_DGRAM) as client,
    ):
        server.bind(("0.0.0.0", CLOSED))
        for _ in range(TIMES):
            client.sendto(b"anybody?", (floating, CLOSED))
        filtered.dropped_becomes("blue.1", "security_group", before + TIMES)
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.recv(100)


@pytest.mark.parametrize("whose", ["blue.1", "blue.2"])
def test_a_function_may_send_from_a_host_that_it_forwards_for(cloud: StandingCloud, whose: str) -> None:
    function, host = cloud.instance("blue.firewall"), cloud.instance(whose)
    packet = udp(host.address, cloud.topology.outside, (9, 9), secrets.token_bytes(30))
    with cloud.wire(function.name) as sending, cloud.wire(OUTSIDE) as wire:
        sending.send(ethernet(router_mac(cloud), function.mac, IPV4, packet))
        assert packet[-30:] in [frame[42:72] for frame in frames(wire)]  # with another source by now


def test_what_a_function_sent_in_the_name_of_a_host_opens_no_way_to_that_host(
    filtered: StandingCloud,
) -> None:
    function, host = filtered.instance("blue.dpi"), filtered.instance("blue.1")
    before = filtered.dropped(host.name, "security_group")
    with (
        filtered.stack(host.name, socket.SOCK_DGRAM) as server,
        filtered.stack(OUTSIDE, socket.SOCK_DGRAM) as peer,
        filtered.wire(function.name) as sending,
    ):
        server.bind(("0.0.0.0", CLOSED))
        peer.bind(("0.0.0.0", 0))
        peer.settimeout(5)
        ports = (CLOSED, peer.getsockname()[1])
        packet = udp(host.address, filtered.topology.outside, ports, b"in its name")
        sending.send(ethernet(filtered.instance("blue.firewall").mac, function.mac, IPV4, packet))
        text, asked_by = peer.recvfrom(100)
        assert text == b"in its name"
        for _ in range(TIMES):
            peer.sendto(b"answered", asked_by)
        filtered.dropped_becomes(host.name, "security_group", before + TIMES)
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.recv(100)


@pytest.mark.parametrize("sender", [*CHAIN, "blue.2"])
def test_what_nobody_may_send_is_dropped_and_counted_at_who_sent_it(
    filtered: StandingCloud, sender: str
) -> None:
    own = filtered.instance(sender)
    source = "10.0.0.99" if sender in CHAIN else filtered.instance("blue.1").address
    forged = {
        "spoofed_ip": (own.mac, udp(source, filtered.topology.outside, (9, 9), bytes(30))),
        "spoofed_mac": (
            filtered.instance("blue.1").mac,
            udp(filtered.instance("blue.1").address, filtered.topology.outside, (9, 9), bytes(30)),
        ),
    }
    for reason, (whose, packet) in forged.items():
        before = filtered.dropped(sender, reason)
        with filtered.wire(sender) as sending, filtered.wire("blue.router", INNER) as wire:
            for _ in range(TIMES):
                sending.send(ethernet(router_mac(filtered), whose, IPV4, packet))
            assert packet not in [frame[14 : 14 + len(packet)] for frame in frames(wire)]
        filtered.dropped_becomes(sender, reason, before + TIMES)


def test_a_function_reaches_nobody_of_another_tenant_with_the_same_addresses(cloud: StandingCloud) -> None:
    function, other = cloud.instance("red.dpi"), cloud.instance("blue.1")
    secret = secrets.token_bytes(30)
    with cloud.wire(function.name) as sending, cloud.wire("blue.1") as wire, cloud.wire("blue.dpi") as second:
        for to in (other.mac, cloud.instance("blue.dpi").mac, EVERYBODY):
            for source in ("10.0.0.3", function.address):
                packet = udp(source, other.address, (9, 9), secret)
                sending.send(ethernet(to, function.mac, IPV4, packet))
        seen = [*frames(wire), *frames(second)]
    assert not [frame for frame in seen if secret in frame or frame[6:12] == mac(function.mac)]
