# SPDX-License-Identifier: Apache-2.0
"""Connections through weir-dp's socket: what was made is counted at both ends, and a function between them
sees each packet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.packet.one_function import configuration
from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure
from weir.protocol.connections import (
    ConnectionsConfigure,
    ConnectionsResult,
    ConnectionsStart,
    ConnectionsWait,
)

from .wire import area_of

LEFT, RIGHT = "02:00:00:00:00:01", "02:00:00:00:00:02"


def around(nf: str, options: dict[str, Any]) -> Configure:
    """Clients left and servers right of one function."""
    config = configuration([{"nf": nf, "options": options}], {})
    kept = [area for area in config["areas"] if area["kind"] not in ("generator", "receiver")]
    ends = [area_of("clients", "tester.left"), area_of("servers", "tester.right")]
    return Configure.model_validate({**config, "areas": [*kept, *ends]})


def connections(**changes: Any) -> ConnectionsConfigure:
    whole = {
        "clients": {
            "port": "tester.left",
            "src_mac": LEFT,
            "dst_mac": RIGHT,
            "address": "198.18.0.1",
            "last_port": 5000,
        },
        "servers": {"port": "tester.right", "src_mac": RIGHT, "dst_mac": LEFT, "address": "198.19.0.1"},
        "services": [{"port": 80, "request_bytes": 100, "answer_bytes": 5000}],
        **changes,
    }
    return ConnectionsConfigure.model_validate(whole)


@pytest.fixture
def client() -> Iterator[DataPlaneClient]:
    with (
        private_data_plane(CORE, memory_mb=256, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        yield client


def made(client: DataPlaneClient, run: ConnectionsStart) -> ConnectionsResult:
    client.call("connections.start", run.arguments())
    deadline = time.monotonic() + 60
    while True:
        found = client.ask("connections.result", ConnectionsResult, ConnectionsWait(wait_ms=100))
        for side in (found.clients, found.servers):
            assert side.opened == side.completed + sum(side.failed.model_dump().values()) + side.open
        if found.state == "done":
            return found
        assert time.monotonic() < deadline


RUN = ConnectionsStart(rate=500, duration_ns=200_000_000, drain_ns=50 * 10**9)
INTENDED = 100


def opened(found: ConnectionsResult) -> int:
    """Connections of RUN: all, but for those of its last moments if the tester was without its core then."""
    assert found.intended == INTENDED
    assert 0 < found.clients.opened <= INTENDED
    return found.clients.opened


@pytest.mark.parametrize(
    ("nf", "options"),
    [
        ("acl", {"default": "permit"}),
        ("firewall", {"default": "permit"}),
        ("nat", {"external": "203.0.113.0/28"}),
    ],
)
def test_every_connection_through_a_function_is_completed(
    client: DataPlaneClient, nf: str, options: dict[str, Any]
) -> None:
    client.configure(around(nf, options))
    client.call("connections.configure", connections().arguments())
    client.start()
    found = made(client, RUN)
    all_of_them = opened(found)
    assert found.clients.completed == found.clients.established == found.servers.completed == all_of_them
    assert found.clients.payload_bytes == all_of_them * 5000
    assert found.servers.payload_bytes == all_of_them * 100
    assert found.connect.count == found.transaction.count == found.first_byte.count == all_of_them
    assert found.transaction.min_ns >= found.first_byte.min_ns > 0
    stages = [stage for area in client.ledger().areas for path in area.paths for stage in path.stages]
    assert [stage.packets_in for stage in stages] == [found.clients.tx_packets, found.servers.tx_packets]


def over_ipv6(**changes: Any) -> ConnectionsConfigure:
    """The same, of IPv6."""
    ends = connections().model_dump(exclude_unset=True)
    ends["clients"] |= {"address": "2001:2:0:1::1", "addresses": 4}
    ends["servers"] |= {"address": "2001:2:0:2::1"}
    return ConnectionsConfigure.model_validate({**ends, **changes})


MIX = (
    {"port": 80, "request_bytes": 100, "answer_bytes": 5000},
    {"l4": "udp", "port": 53, "request_bytes": 60, "answer_bytes": 1452},
)


@pytest.mark.parametrize(
    ("nf", "options"),
    [
        ("acl", {"default": "permit", "ipv6": "rules"}),
        ("firewall", {"default": "permit", "ipv6": "rules"}),
        ("l3fwd", {"dst_mac": RIGHT}),
        ("lb", {"services": "203.0.113.10:80/tcp 198.19.0.1:80", "ipv6": "forward"}),
        ("nat", {"external": "203.0.113.0/28", "ipv6": "forward"}),
    ],
)
def test_every_connection_over_ipv6_through_a_function_is_completed(
    client: DataPlaneClient, nf: str, options: dict[str, Any]
) -> None:
    client.configure(around(nf, options))
    client.call("connections.configure", over_ipv6(services=MIX).arguments())
    client.start()
    found = made(client, RUN)
    all_of_them = opened(found)
    sessions, exchanges = (one.completed for one in found.services)
    assert sessions + exchanges == found.clients.completed == all_of_them
    assert found.clients.payload_bytes == sessions * 5000 + exchanges * 1452
    assert found.servers.payload_bytes == sessions * 100 + exchanges * 60
    assert found.servers.completed == sessions
    assert found.clients.rx_packets == found.servers.tx_packets
    assert found.clients.not_ours == found.servers.not_ours == 0
    stages = [stage for area in client.ledger().areas for path in area.paths for stage in path.stages]
    assert [stage.packets_in for stage in stages] == [found.clients.tx_packets, found.servers.tx_packets]


def test_a_function_that_translates_ipv4_alone_drops_what_is_of_ipv6(client: DataPlaneClient) -> None:
    client.configure(around("nat", {"external": "203.0.113.0/28"}))
    client.call("connections.configure", over_ipv6(retries=0, retransmit_ns=10_000_000).arguments())
    client.start()
    found = made(client, RUN)
    assert found.clients.failed.no_answer == opened(found)
    assert found.servers.rx_packets == 0
    dropped = [stage.drops for area in client.ledger().areas for path in area.paths for stage in path.stages]
    assert sum(dropped[0].values()) == found.clients.tx_packets


def test_what_a_function_drops_fails_without_an_answer(client: DataPlaneClient) -> None:
    client.configure(around("acl", {"default": "deny"}))
    config = connections(retries=1, retransmit_ns=10_000_000)
    client.call("connections.configure", config.arguments())
    client.start()
    found = made(client, RUN)
    all_of_them = opened(found)
    assert found.clients.failed.no_answer == found.clients.retransmissions == all_of_them
    assert found.clients.established == found.servers.opened == 0
    dropped = [stage.drops for area in client.ledger().areas for path in area.paths for stage in path.stages]
    # The SYN, once more, and the reset of the client that gives up.
    assert dropped[0] == {"denied": 3 * all_of_them} | {key: 0 for key in dropped[0] if key != "denied"}


def test_without_clients_there_are_no_connections(client: DataPlaneClient) -> None:
    config = around("acl", {"default": "permit"})
    client.configure(config.model_copy(update={"areas": config.areas[:-2]}))
    with pytest.raises(DataPlaneError, match="there are no clients"):
        client.call("connections.configure", connections().arguments())
    with pytest.raises(DataPlaneError, match="no connections are configured"):
        client.call("connections.start", RUN.arguments())


def test_sources_that_do_not_exist_are_refused(client: DataPlaneClient) -> None:
    client.configure(around("acl", {"default": "permit"}))
    for changed, said in (
        ({"address": "198.18.0.1", "first_port": 2000, "last_port": 1000}, "too many clients, or none"),
        ({"address": "255.255.255.255", "addresses": 2}, "no 2 addresses"),
        ({"address": "here"}, "is none"),
        ({"address": "2001:2::1"}, "'198.19.0.1' is none"),
    ):
        whole = connections().clients.model_dump() | changed
        with pytest.raises(DataPlaneError, match=said):
            client.call("connections.configure", connections(clients=whole).arguments())
    beyond = over_ipv6().clients.model_dump() | {"address": "2001:2::ffff:ffff", "addresses": 2}
    with pytest.raises(DataPlaneError, match="no 2 addresses from 2001:2::ffff:ffff on in its /96"):
        client.call("connections.configure", over_ipv6(clients=beyond).arguments())
    with pytest.raises(DataPlaneError, match="does not fit a packet of 1,500"):
        client.call("connections.configure", over_ipv6(mss=1460).arguments())


def test_a_run_that_goes_on_is_not_started_again_and_may_be_stopped(client: DataPlaneClient) -> None:
    client.configure(around("acl", {"default": "permit"}))
    client.call("connections.configure", connections().arguments())
    client.start()
    long = ConnectionsStart(rate=100, duration_ns=3600 * 10**9)
    client.call("connections.start", long.arguments())
    with pytest.raises(DataPlaneError, match="already"):
        client.call("connections.start", long.arguments())
    with pytest.raises(DataPlaneError, match="being made"):
        client.call("connections.configure", connections().arguments())
    client.stop()
    assert client.ask("connections.result", ConnectionsResult).state == "stopped"
    client.start()
    again = made(client, RUN)
    assert again.clients.completed == opened(again)
