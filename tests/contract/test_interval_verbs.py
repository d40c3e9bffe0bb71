# SPDX-License-Identifier: Apache-2.0
"""Looks at a run while it goes on, its end before the time, pools of buffers: asked of a running weir-dp."""

from __future__ import annotations

import time

import pytest

from tests.verbs import so_far
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.traffic import DelayWanted
from weir.protocol.traffic_results import TrafficInterval

from .wire import result, started

MS_NS = 10**6
HOUR_NS = 3600 * 10**9


def look(client: DataPlaneClient, more_than: int = 0) -> TrafficInterval:
    """A look at the run once more packets than that have arrived."""
    deadline = time.monotonic() + 5
    while (seen := so_far(client)).streams[0].delivered <= more_than:
        assert time.monotonic() < deadline, seen
    return client.traffic_interval()


def test_a_look_counts_from_the_start_and_tells_extremes_since_the_last_look(client: DataPlaneClient) -> None:
    started(client)
    run = client.start_traffic({0: 10_000}, HOUR_NS, 100 * MS_NS, DelayWanted(variation=True))
    first = look(client)
    second = look(client, first.streams[0].delivered)
    client.finish_traffic()
    whole = result(client).streams[0]
    third = client.traffic_interval().streams[0]
    assert first.run == second.run == run
    assert 0 < first.now_ns < second.now_ns < 10 * 10**9
    raw_ns = second.now_raw_ns - first.now_raw_ns
    assert raw_ns == pytest.approx(second.now_ns - first.now_ns, abs=1e6)
    assert second.now_raw_ns <= time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    one, two = first.streams[0], second.streams[0]
    assert 0 < one.delivered < two.delivered <= whole.delivered == third.delivered
    assert one.latency.count == one.delivered
    assert one.latency.min_ns <= one.latency.mean_ns <= one.latency.max_ns
    extremes = [look.latency.max_ns for look in (one, two, third)]
    assert whole.latency is not None
    assert whole.latency.max_ns == pytest.approx(max(extremes))
    assert min(extremes) < max(extremes)
    assert one.variation is not None
    assert two.variation is not None
    assert one.variation.jitter_count < two.variation.jitter_count
    assert (one.missing, two.missing, third.missing) == (0, 0, 0)


def test_a_run_ends_before_its_time_with_every_packet_counted(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 10_000}, HOUR_NS, 100 * MS_NS)
    look(client, 50)
    client.finish_traffic()
    counts = result(client)
    stream = counts.streams[0]
    assert 50 < stream.offered == stream.intended == stream.delivered
    assert counts.tx_duration_ns < 10 * 10**9
    with pytest.raises(DataPlaneError, match="no run goes on"):
        client.finish_traffic()


def test_without_a_run_there_is_nothing_to_look_at(client: DataPlaneClient) -> None:
    started(client)
    with pytest.raises(DataPlaneError, match="there has been no run"):
        client.traffic_interval()


def test_all_buffers_are_back_in_their_pools_after_a_run(client: DataPlaneClient) -> None:
    started(client)
    before = {pool.name: pool.free for pool in client.ledger().pools}
    client.start_traffic({0: 10_000}, 20 * MS_NS, 100 * MS_NS)
    result(client)
    pools = client.ledger().pools
    assert pools
    assert {pool.name: pool.free for pool in pools} == before
    assert all(0 <= pool.free <= pool.size for pool in pools)
