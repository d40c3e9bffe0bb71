# SPDX-License-Identifier: Apache-2.0
"""Weir's router in the place of tenants' Linux routers: hosts get through it as through Linux's, and measured
beside those every packet is accounted for."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from weir.base.cloud import OUTSIDE

from .clouds import CLOSED, NEEDS_CLOUDS, OPEN, StandingCloud, frames, standing

pytestmark = [*NEEDS_CLOUDS, pytest.mark.long]

INGRESS = [{"protocol": "tcp", "ports": [OPEN, OPEN]}, {"protocol": "icmp"}]
CLOUD = {
    "weir": 1,
    "name": "routed",
    "cloud": {"router": "weir", "compute_nodes": 2},
    "tenants": [
        {"name": "blue", "instances": 2, "floating": 1, "ingress": INGRESS},
        {"name": "red", "functions": [{"name": "dpi"}]},
    ],
}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandingCloud]:
    with standing(json.dumps(CLOUD), run_dir=tmp_path_factory.mktemp("run")) as made:
        yield made


@pytest.mark.long
def test_the_router_leads_outside_and_to_floating_addresses(cloud: StandingCloud) -> None:
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.pings("blue.2", cloud.topology.outside)
    assert cloud.pings("red.1", cloud.topology.outside)  # and through its function
    assert cloud.pings(OUTSIDE, floating)
    assert cloud.pings("red.1", floating)
    assert cloud.pings("blue.2", floating)  # by way of its own router
    assert cloud.pings("blue.1", floating)


def test_who_comes_from_outside_is_seen_with_its_address_and_who_goes_there_with_the_floating_one(
    cloud: StandingCloud,
) -> None:
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.fetches(OUTSIDE, floating, OPEN, "blue.1") == cloud.topology.outside
    with cloud.stack(OUTSIDE, socket.SOCK_DGRAM) as there:
        there.bind(("0.0.0.0", 5000))
        for host, seen in (("blue.1", floating), ("blue.2", cloud.topology.tenant_networks[0].external)):
            with cloud.stack(host, socket.SOCK_DGRAM) as here:
                here.sendto(b"who am I?", (cloud.topology.outside, 5000))
                assert there.recvfrom(64)[1][0] == seen


def test_who_asks_for_a_floating_address_of_his_own_network_is_seen_as_from_outside(
    cloud: StandingCloud,
) -> None:
    floating = cloud.instance("blue.1").floating
    assert floating is not None
    assert cloud.fetches("blue.2", floating, OPEN, "blue.1") == cloud.topology.tenant_networks[0].external
    assert cloud.fetches("blue.1", floating, OPEN, "blue.1") == floating


def test_nothing_comes_in_that_nobody_asked_for_and_metadata_is_no_way_out(cloud: StandingCloud) -> None:
    external = cloud.topology.tenant_networks[0].external
    with cloud.stack("blue.2", socket.SOCK_DGRAM) as host, cloud.stack(OUTSIDE, socket.SOCK_DGRAM) as there:
        there.bind(("0.0.0.0", 5001))
        host.bind(("0.0.0.0", 6000))
        host.sendto(b"first", (cloud.topology.outside, 5001))
        _, mapped = there.recvfrom(64)
        assert mapped[0] == external
        there.sendto(b"answer", mapped)
        assert host.recv(64) == b"answer"
        with cloud.stack(OUTSIDE, socket.SOCK_DGRAM) as stranger:
            stranger.bind(("0.0.0.0", 5002))
            stranger.sendto(b"unasked", mapped)
            host.settimeout(0.5)
            with pytest.raises(TimeoutError):
                host.recv(64)
    with cloud.wire(OUTSIDE) as wire, cloud.stack("blue.2", socket.SOCK_DGRAM) as host:
        host.sendto(b"metadata?", ("169.254.169.254", 80))
        assert not [one for one in frames(wire) if b"metadata?" in one]


def test_behind_it_the_security_group_refuses_and_counts(cloud: StandingCloud) -> None:
    before = cloud.dropped("blue.1", "security_group")
    with cloud.stack(OUTSIDE, socket.SOCK_DGRAM) as client:
        for _ in range(5):
            client.sendto(b"anybody?", (cloud.instance("blue.1").floating, CLOSED))
    cloud.dropped_becomes("blue.1", "security_group", before + 5)
