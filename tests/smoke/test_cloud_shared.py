# SPDX-License-Identifier: Apache-2.0
"""Functions that tenants share: what tenants' routers and the outside send each other goes through each of
them, both ways; who does not share them goes past; and they may send in nobody else's name."""

from __future__ import annotations

import json
import secrets
import socket
import time

import pytest

from weir.base.cloud import OUTSIDE

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
CHAIN = ("shared.dpi", "shared.firewall")


def tenants(security: str, isolation: str) -> str:
    """Two customers behind what is shared, and one who is not."""
    ingress = [{"protocol": "tcp", "ports": [OPEN, OPEN]}, {"protocol": "icmp"}]
    return json.dumps(
        {
            "weir": 1,
            "name": "cloud",
            "cloud": {
                "security": security,
                "isolation": isolation,
                "compute_nodes": 2,
                "functions": [{"name": "dpi"}, {"name": "firewall"}],
            },
            "tenants": [
                {"name": "blue", "floating": 1, "ingress": ingress, "functions": [{"name": "own"}]},
                {"name": "red", "floating": 1, "ingress": ingress},
                {"name": "plain", "floating": 1, "ingress": ingress, "shared": False},
            ],
        }
    )


cloud = cloud_of_each(
    tenants,
    pytest.param(("bridge-filter", "vxlan"), marks=pytest.mark.long),
    ("ovs-conntrack", "vlan"),
    pytest.param(("none", "gre"), marks=pytest.mark.long),
)


def quiet(cloud: StandingCloud) -> list[int]:
    """Packets forwarded by each, once ends of earlier connections are through."""
    found = [cloud.forwarded(one) for one in CHAIN]
    while True:
        time.sleep(0.1)
        before, found = found, [cloud.forwarded(one) for one in CHAIN]
        if found == before:
            return found


@pytest.mark.long
@pytest.mark.parametrize("host", ["blue.1", "red.1", "plain.1"])
def test_who_shares_functions_reaches_the_outside_through_each_of_them_and_nobody_else_does(
    cloud: StandingCloud, host: str
) -> None:
    before = quiet(cloud)
    for _ in range(TIMES):
        assert cloud.pings(host, cloud.topology.outside)
    more = [cloud.forwarded(one) - first for one, first in zip(CHAIN, before, strict=True)]
    assert more == ([0, 0] if host == "plain.1" else [2 * TIMES, 2 * TIMES])


@pytest.mark.parametrize("host", ["blue.1", "red.1", "plain.1"])
def test_a_connection_from_outside_comes_by_the_same_way(cloud: StandingCloud, host: str) -> None:
    before, floating = quiet(cloud), cloud.instance(host).floating
    assert floating is not None
    assert cloud.fetches(OUTSIDE, floating, OPEN, host) == cloud.topology.outside
    more = [cloud.forwarded(one) > first for one, first in zip(CHAIN, before, strict=True)]
    assert more == [host != "plain.1"] * len(CHAIN)


def test_what_a_tenant_does_not_let_in_is_refused_behind_what_is_shared(
    filtered: StandingCloud,
) -> None:
    before = filtered.dropped("red.1", "security_group")
    with filtered.stack(OUTSIDE, socket.SOCK_DGRAM) as client:
        for _ in range(TIMES):
            client.sendto(b"anybody?", (filtered.instance("red.1").floating, CLOSED))
    filtered.dropped_becomes("red.1", "security_group", before + TIMES)


@pytest.mark.parametrize("function", CHAIN)
def test_a_shared_function_sends_in_the_name_of_those_behind_it_alone(
    filtered: StandingCloud, function: str
) -> None:
    own, outside = filtered.instance(function), filtered.topology
    assert outside.shared is not None
    red, plain = filtered.topology.tenant_networks[1:]
    secret = secrets.token_bytes(30)
    before = filtered.dropped(function, "spoofed_ip")
    with filtered.wire(function) as sending, filtered.wire(OUTSIDE) as wire:
        for source in (red.external, plain.external):
            packet = udp(source, outside.outside, (9, 9), secret + source.encode())
            sending.send(ethernet(outside.shared.router_mac, own.mac, IPV4, packet))
        arrived = [frame for frame in frames(wire) if frame[:6] == mac(outside.shared.router_mac)]
        seen = [frame for frame in arrived if secret in frame]
    assert [secret + red.external.encode() in frame for frame in seen] == [True]
    filtered.dropped_becomes(function, "spoofed_ip", before + 1)


def test_a_shared_function_hears_of_no_tenants_network(cloud: StandingCloud) -> None:
    secret = secrets.token_bytes(30)
    host = cloud.instance("blue.1")
    with cloud.wire("blue.1") as sending, cloud.wire("shared.dpi") as wire:
        packet = udp(host.address, "10.0.0.255", (9, 9), secret)
        for to in (EVERYBODY, cloud.instance("shared.dpi").mac):
            sending.send(ethernet(to, host.mac, IPV4, packet))
        assert not [frame for frame in frames(wire) if secret in frame]
