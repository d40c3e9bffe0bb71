# SPDX-License-Identifier: Apache-2.0
"""Every architecture at its limit: flows stay in order, and the account balances to the packet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from weir.base.node import Direction
from weir.measure.accounting import balance, seen
from weir.measure.tester import Stream
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure
from weir.protocol.traffic_results import TrafficResult

from .one_function import Functions, Way, configuration, data_plane, running

FUNCTIONS: Functions = [{"nf": "acl", "options": {"default": "permit"}}, {"nf": "l3fwd"}]
WAYS: list[Way] = [
    {"architecture": "run-to-completion"},
    {"architecture": "pipeline"},
    {"architecture": "dispatch", "workers": 4},
    {"architecture": "separated", "workers": 3},
    {"architecture": "separated", "workers": 2, "state_cores": 2, "fastpath": True, "fastpath_flows": 64},
]
FLOWS = 8  # in each direction, each a stream: reordering is told by stream
DURATION_NS = 100_000_000


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def streams() -> list[dict[str, Any]]:
    """One flow a stream, eight from each side."""
    made = []
    for number in range(2 * FLOWS):
        there = number < FLOWS
        sides = ("tester.left", "tester.right")
        addresses = (f"198.18.0.{1 + number % FLOWS}", "198.19.0.1")
        made.append(
            {
                "id": number,
                "port": sides[not there],
                "to": sides[there],
                "frame": {"bytes": 64},
                "template": {
                    "src_mac": "02:00:00:00:00:01",
                    "dst_mac": "02:00:00:00:00:02",
                    "src_ip": addresses[not there],
                    "dst_ip": addresses[there],
                    "src_port": 1024 + number % FLOWS,
                },
            }
        )
    return made


def ends(stream: dict[str, Any]) -> Stream:
    direction: Direction = "left-to-right" if stream["id"] < FLOWS else "right-to-left"
    return Stream(stream["id"], direction, stream["port"], stream["to"])


def finished(client: DataPlaneClient) -> TrafficResult:
    while (result := client.traffic_result(100)) is None:
        pass
    return result


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
@pytest.mark.parametrize("rate_pps", [20_000, 0], ids=["with room", "as fast as it goes"])
def test_flows_stay_in_order_and_every_packet_is_accounted_for(
    client: DataPlaneClient, way: Way, rate_pps: int
) -> None:
    offered = streams()
    with running(client, configuration(FUNCTIONS, way)):
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        before = seen(client.ledger(), ())
        client.start_traffic({one["id"]: rate_pps for one in offered}, DURATION_NS, 50_000_000)
        result = finished(client)
        after = seen(client.ledger(), ())
    account = balance(before, after, result, [ends(one) for one in offered])
    assert account.unaccounted == 0
    assert account.delivered > 0
    for stream in result.streams:
        assert (stream.reordered, stream.duplicates, stream.too_late) == (0, 0, 0)
    assert not any(receiver.malformed for receiver in result.receivers)
