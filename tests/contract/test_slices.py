# SPDX-License-Identifier: Apache-2.0
"""A run in slices of its time, and when its core was away: asked of a running weir-dp."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from tests.polled_core import CORE
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.traffic_results import Slices, TrafficResult

from .wire import result, started

MS_NS = 10**6


def sliced(
    client: DataPlaneClient, rate_pps: float, ms: int, slice_ms: float = 1, **more: Any
) -> TrafficResult:
    """A run to its end."""
    client.start_traffic({0: rate_pps}, ms * MS_NS, 100 * MS_NS, slice_ns=round(slice_ms * MS_NS), **more)
    found: TrafficResult = result(client)
    return found


def slices_of(found: TrafficResult) -> Slices:
    assert found.slices is not None
    return found.slices


def test_slices_add_up_to_the_run_and_are_as_long_as_they_should_be(client: DataPlaneClient) -> None:
    started(client)
    found = sliced(client, 100_000, 100)
    (stream,) = slices_of(found).streams
    assert len(stream.due) == len(stream.offered) == len(stream.delivered) == len(stream.delay_ns) == 100
    assert all(0 <= late <= delay for late, delay in zip(stream.late_ns, stream.delay_ns, strict=True))
    assert set(stream.due[:-1]) == {100}
    assert sum(stream.due) == found.streams[0].intended == 10_000
    assert sum(stream.offered) == found.streams[0].offered
    assert sum(stream.delivered) == found.streams[0].delivered
    arrived = [delay for delay, packets in zip(stream.delay_ns, stream.delivered, strict=True) if packets]
    assert all(delay > 0 for delay in arrived)
    latency = found.streams[0].latency
    assert latency is not None
    mean_ns = sum(map(int.__mul__, stream.delivered, stream.delay_ns)) / sum(stream.delivered)
    assert mean_ns == pytest.approx(latency.mean_ns, rel=0.02)


@pytest.mark.parametrize("rate_pps", [0.0, 997.0, 12_345.6])
def test_slices_add_up_at_any_rate(client: DataPlaneClient, rate_pps: float) -> None:
    started(client)
    found = sliced(client, rate_pps, 50, 0.7)
    (stream,) = slices_of(found).streams
    assert len(stream.due) == 72
    assert sum(stream.offered) == found.streams[0].offered
    assert sum(stream.delivered) == found.streams[0].delivered
    assert sum(stream.due) == found.streams[0].intended


def test_drawn_gaps_are_sliced_by_when_they_were_due(client: DataPlaneClient) -> None:
    started(client, pacing="poisson")
    found = sliced(client, 50_000, 100)
    (stream,) = slices_of(found).streams
    assert sum(stream.offered) == found.streams[0].offered
    assert sum(stream.delivered) == found.streams[0].delivered == found.streams[0].offered
    assert len(set(stream.offered)) > 10  # they vary


def test_a_run_without_slices_has_none_and_too_many_are_refused(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 1000}, 10 * MS_NS, 100 * MS_NS)
    assert result(client).slices is None
    with pytest.raises(DataPlaneError, match="more slices"):
        client.start_traffic({0: 1000}, 20_000 * MS_NS, 0, slice_ns=MS_NS)


def test_a_run_that_goes_on_keeps_its_slices_when_another_one_is_refused(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 20_000}, 200 * MS_NS, 10 * MS_NS, slice_ns=MS_NS)
    time.sleep(0.12)
    with pytest.raises(DataPlaneError, match="a run goes on"):
        client.start_traffic({0: 20_000}, 200 * MS_NS, 10 * MS_NS, slice_ns=MS_NS)
    timed = slices_of(result(client)).cores[0].piece_cycles
    assert any(timed[:100])
    assert any(timed[100:])


@pytest.mark.parametrize("skip", [False, True])
def test_a_stop_of_the_process_is_a_gap_of_the_host_and_what_was_due_then_is_late_or_skipped(
    client: DataPlaneClient, *, skip: bool
) -> None:
    started(client)
    pid = client.hello().pid
    client.start_traffic({0: 20_000}, 400 * MS_NS, 100 * MS_NS, slice_ns=MS_NS, skip=skip)
    time.sleep(0.1)
    os.kill(pid, signal.SIGSTOP)
    stopped_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    time.sleep(0.03)
    going_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    os.kill(pid, signal.SIGCONT)
    found = slices_of(result(client))
    gap = max(found.gaps, key=lambda gap: gap.us)
    assert gap.core == CORE
    assert gap.us >= 20_000  # a busy machine stops it some milliseconds late
    assert gap.host_us >= 0.9 * gap.us
    us_a_ns = found.now_us / (found.now_raw_ns - found.start_raw_ns)
    assert gap.ended_us - gap.us <= (stopped_ns - found.start_raw_ns) * us_a_ns + 5000
    assert gap.ended_us >= (going_ns - found.start_raw_ns) * us_a_ns - 5000
    (stream,) = found.streams
    begin, end = int((gap.ended_us - gap.us) // 1000) + 1, int(gap.ended_us // 1000)
    assert set(stream.due[begin:end]) == {20}
    assert set(stream.offered[begin:end]) == ({0} if skip else {20})
    assert sum(stream.offered) == sum(stream.delivered)
    if skip:
        # As due, and nothing of the gap in addition, but for the slice in which it ended.
        assert sum(stream.offered[begin:]) <= sum(stream.due[end:]) + 20
    else:
        inside = stream.delay_ns[int((gap.ended_us - gap.us / 2) // 1000)]
        assert inside == pytest.approx(gap.us * 1e3 / 2, rel=0.2)  # due in its middle, sent at its end


def test_paces_are_told_slice_by_slice_and_others_by_their_distance(client: DataPlaneClient) -> None:
    started(client)
    other = min(set(os.sched_getaffinity(0)) - {CORE}, default=None)
    found = slices_of(sliced(client, 1000, 100, switch_cpus=[CORE] if other is None else [CORE, other]))
    (core,) = found.cores
    assert core.core == CORE
    assert core.distance_cycles == 0
    away_ms = sum(gap.us for gap in found.gaps) / 1e3  # others had the core, or it did nothing but work
    timed = [cycles for cycles in core.piece_cycles if cycles]
    assert len(timed) >= 0.8 * (len(core.piece_cycles) - away_ms)
    assert [one.core for one in found.other_cores] == ([] if other is None else [other])
    assert all(0 < one.distance_cycles < 100_000 for one in found.other_cores)


@pytest.mark.parametrize("others", [["0"], [-1], [4096], list(range(17))])
def test_wrong_cpus_of_a_switch_are_refused(client: DataPlaneClient, others: list[Any]) -> None:
    started(client)
    arguments = {"duration_ns": MS_NS, "rates_pps": {"0": 1}, "switch_cpus": others}
    with pytest.raises(DataPlaneError, match="no such CPUs"):
        client.call("traffic.start", arguments)
