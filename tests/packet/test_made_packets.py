# SPDX-License-Identifier: Apache-2.0
"""Packets that functions make themselves are in the account of a trial, wherever they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from weir.measure.accounting import Balance, balance, seen
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure

from .one_function import Functions, configuration, data_plane, running
from .test_architectures_under_load import FLOWS, ends, finished, streams

DURATION_NS, DRAIN_NS = 100_000_000, 50_000_000
ROUTER = {
    "inbound_addresses": "198.18.0.254/24",
    "addresses": "198.19.0.254/24",
    "icmp_errors_pps": 100000,
}


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def account(client: DataPlaneClient, config: Mapping[str, Any], offered: list[dict[str, Any]]) -> Balance:
    """Of one run of these streams."""
    with running(client, config):
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        before = seen(client.ledger(), ())
        client.start_traffic({one["id"]: 2_000 for one in offered}, DURATION_NS, DRAIN_NS)
        result = finished(client)
        after = seen(client.ledger(), ())
    return balance(before, after, result, [ends(one) for one in offered])


def test_error_indications_that_the_gnb_takes_are_no_packets_too_many(client: DataPlaneClient) -> None:
    functions: Functions = [
        {"nf": "gnb", "options": {"sessions": FLOWS}},
        {"nf": "upf", "options": {"sessions": FLOWS // 2, "error_indications_pps": 100000}},
    ]
    offered = streams()
    for number, stream in enumerate(offered):
        stream["template"][("src_ip", "dst_ip")[number >= FLOWS]] = f"10.45.0.{1 + number % FLOWS}"
        stream["frame"] = {"bytes": 128}
    found = account(client, configuration(functions, {}), offered)
    lost = {(one.place, one.reason): one.packets for one in found.drops}
    (made,) = found.originated
    assert made.place == "f1/left/upf"
    # Not one of each packet that led to it: there is a rate, and room for so many that wait.
    assert lost["f1/right/upf", "unknown_teid"] >= made.packets == lost["f1/left/gnb", "signal"] > 0
    assert (found.unaccounted, found.originated_arrived) == (0, 0)
    assert found.delivered == found.offered // 2


def test_icmp_errors_that_the_tester_receives_are_accounted_for(client: DataPlaneClient) -> None:
    config = configuration([{"nf": "l3fwd", "options": ROUTER}], {})
    mac = {port["name"]: port["mac"] for port in config["ports"]}
    offered = streams()[:FLOWS]
    for stream in offered:
        stream["template"] |= {"dst_mac": mac["f1.left"], "dst_ip": "203.0.113.1"}  # no route
    found = account(client, config, offered)
    (made,) = found.originated
    assert sum(one.packets for one in found.drops) >= made.packets == found.originated_arrived > 0
    assert (found.unaccounted, found.delivered) == (0, 0)
