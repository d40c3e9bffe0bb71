# SPDX-License-Identifier: Apache-2.0
"""Delays of a run, asked of a running weir-dp: what is measured, what is refused, what it tells meanwhile."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.verbs import so_far
from tests.weir_dp_protocol import check_request
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import DelayWanted

from .wire import refused, result, started

MS_NS = 10**6
ALIKE_MAX = 64  # packets whose delay is that of the one before wait to be counted (native/traffic/delays.h)


def test_variation_comes_with_a_run_that_asks_for_it_and_with_no_other(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 10_000}, 20 * MS_NS, 100 * MS_NS, DelayWanted(variation=True))
    asked = result(client).streams[0]
    assert asked.latency.count == asked.delivered == asked.offered > 100
    assert asked.ipdv.pairs == asked.delivered - 1
    assert asked.ipdv.min_ns <= 0 <= asked.ipdv.max_ns
    assert max(-asked.ipdv.min_ns, asked.ipdv.max_ns) <= asked.latency.max_ns + 1  # without lateness
    assert 0 < asked.jitter.mean_ns <= asked.jitter.max_ns <= asked.ipdv.p9999_size_ns * 1.01
    client.start_traffic({0: 10_000}, 20 * MS_NS, 100 * MS_NS)
    plain = result(client).streams[0]
    assert (plain.ipdv, plain.jitter) == (None, None)


def test_the_generators_lateness_is_part_of_the_latency(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 10_000}, 20 * MS_NS, 100 * MS_NS)
    counts = result(client).streams[0]
    # 200 packets find room in a ring of the wire, whatever pauses: none is lost, and both are of the same.
    assert counts.lateness.count == counts.latency.count == counts.delivered == counts.offered > 0
    assert counts.lateness.mean_ns <= counts.latency.mean_ns
    assert counts.lateness.max_ns <= counts.latency.max_ns
    assert counts.negative == 0


def test_without_a_rate_nothing_is_late(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 0}, 5 * MS_NS, 100 * MS_NS)
    counts = result(client).streams[0]
    assert counts.lateness is None
    assert counts.latency.count == counts.delivered > 0


def test_what_is_sent_in_the_settling_time_is_counted_but_not_measured(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 10_000}, 40 * MS_NS, 100 * MS_NS, DelayWanted(settle_ns=30 * MS_NS))
    counts = result(client).streams[0]
    assert counts.delivered == counts.offered
    assert 0 < counts.latency.count < counts.delivered  # how many of a quarter: a busy machine sends late


def test_first_packets_are_one_of_each_flow(client: DataPlaneClient) -> None:
    started(client, flows={"count": 50, "vary": ["src_ip"]})
    client.start_traffic({0: 10_000}, 40 * MS_NS, 100 * MS_NS, DelayWanted(first_packets=True))
    counts = result(client).streams[0]
    assert counts.delivered > 50
    assert counts.latency.count == 50


def test_the_histogram_has_every_measured_packet_between_its_bounds(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 10_000}, 40 * MS_NS, 100 * MS_NS, DelayWanted(variation=True))
    counts = result(client).streams[0]
    buckets = client.delays(0).buckets
    assert sum(packets for _, _, packets in buckets) == counts.latency.count
    assert buckets[0][0] <= counts.latency.min_ns < buckets[0][1]
    assert buckets[-1][0] <= counts.latency.max_ns < buckets[-1][1]
    assert all(low < high for low, high, _ in buckets)
    assert sum(packets for _, _, packets in client.delays(0, "ipdv").buckets) == counts.ipdv.pairs


def test_a_run_tells_its_counts_while_it_goes_on(client: DataPlaneClient) -> None:
    started(client)
    run = client.start_traffic({0: 10_000}, 10**10, 0)
    seen = [0]
    deadline = time.monotonic() + 5
    while len(seen) < 4 or seen[-1] < 3 * ALIKE_MAX:
        assert time.monotonic() < deadline
        now = so_far(client)
        assert now.run == run
        if now.streams[0].delivered > seen[-1]:
            seen.append(now.streams[0].delivered)
    assert sum(packets for _, _, packets in client.delays(0).buckets) >= seen[-1] - ALIKE_MAX
    client.stop()


@pytest.mark.parametrize(
    ("delay", "where"),
    [
        (7, "delay"),
        ({"settle_ns": -1}, "delay.settle_ns"),
        ({"variation": "yes"}, "delay.variation"),
        ({"first": True}, "delay.first"),
        ({"settle_ns": 1, "first_packets": True}, "delay"),
    ],
    ids=str,
)
def test_a_refused_wish_says_which_field_is_wrong(client: DataPlaneClient, delay: Any, where: str) -> None:
    started(client)
    arguments = {"duration_ns": MS_NS, "rates_pps": {"0": 1}, "delay": delay}
    assert refused(client, "traffic.start", arguments).where == where


def test_first_packets_of_flows_that_are_drawn_are_refused(client: DataPlaneClient) -> None:
    started(client, flows={"count": 50, "vary": ["src_ip"], "distribution": "zipf"})
    arguments = {"duration_ns": MS_NS, "rates_pps": {"0": 1}, "delay": {"first_packets": True}}
    assert refused(client, "traffic.start", arguments).where == "delay.first_packets"


@pytest.mark.parametrize(
    ("arguments", "where"), [({}, "stream"), ({"stream": 1}, "stream"), ({"stream": 0, "of": "pdv"}, "of")]
)
def test_a_histogram_that_there_is_not_is_refused(
    client: DataPlaneClient, arguments: dict[str, Any], where: str
) -> None:
    started(client)
    assert refused(client, "traffic.delays", arguments).where == where


def test_what_weir_dp_accepts_the_schema_accepts() -> None:
    for command, arguments in (
        ("traffic.so_far", {}),
        ("traffic.delays", {"stream": 0, "of": "ipdv"}),
    ):
        check_request(command, arguments)
