# SPDX-License-Identifier: Apache-2.0
"""Overload that queues hide from a short trial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut
from weir.measure.overload import backlog_packets
from weir.protocol.traffic_results import LatencySummary, StreamResult, TrafficResult

from .rig import Rig

SHARP = Response(capacity_pps=200_000, saturation_pps=200_000, buffer_packets=16_384)


def result(p50_us: float, p90_us: float, lost: int = 0) -> TrafficResult:
    latency = LatencySummary(
        count=1000,
        min_ns=0,
        mean_ns=0,
        p50_ns=p50_us * 1e3,
        p90_ns=p90_us * 1e3,
        p99_ns=0,
        p999_ns=0,
        max_ns=0,
    )
    stream = StreamResult(
        id=0, intended=1000, offered=1000, tx_refused=lost, delivered=1000 - lost, latency=latency
    )
    return TrafficResult(run=1, tx_duration_ns=1e8, streams=(stream,))


def test_latency_that_grows_through_a_trial_shows_the_share_that_was_not_carried() -> None:
    # from 0 to 10 ms in 100 ms: the load of 100 ms leaves in 110
    assert backlog_packets(result(p50_us=5000, p90_us=9000), 0.1, least_ms=1) == 91


@pytest.mark.parametrize(
    ("one", "least_ms"),
    [
        (result(p50_us=5000, p90_us=5000), 1),  # long, but constant
        (result(p50_us=100, p90_us=499), 1),  # too little to tell from jitter
        (result(p50_us=5000, p90_us=9000), 0),  # the lab does not want it
    ],
)
def test_there_is_no_backlog_without_growth(one: TrafficResult, least_ms: float) -> None:
    assert backlog_packets(one, 0.1, least_ms) == 0


def test_a_generator_that_falls_behind_leaves_no_backlog() -> None:
    (stream,) = result(p50_us=5000, p90_us=9000).streams
    late = stream.model_copy(update={"lateness": stream.latency})
    both = TrafficResult(run=1, tx_duration_ns=1e8, streams=(late,))
    assert backlog_packets(both, 0.1, least_ms=1) == 0


def test_a_trial_that_loses_packets_needs_less_growth_to_be_believed() -> None:
    assert backlog_packets(result(p50_us=100, p90_us=499, lost=10), 0.1, least_ms=1) == 10


def test_a_trial_in_which_queues_swallow_the_overload_says_so() -> None:
    trial = Rig(SimulatedDut(SHARP)).runner().run("search", 210_000, 0.25).trial
    assert trial.valid
    assert trial.loss_ratio == 0
    assert trial.backlog == pytest.approx(2500, rel=0.3)


@pytest.mark.parametrize("times", [1.1, 1.5, 2, 3, 10])
def test_however_far_above_capacity_a_load_is_what_queues_swallow_is_what_was_not_carried(
    times: float,
) -> None:
    """The system carries as much as ever, and never nothing."""
    deep = replace(SHARP, buffer_packets=10**9)
    trial = Rig(SimulatedDut(deep, tester_max_pps=1e7)).runner().run("latency", times * 200_000, 0.25).trial
    assert trial.loss_ratio == 0
    assert trial.counted is not None
    assert trial.counted.backlog / trial.counted.offered == pytest.approx(1 - 1 / times, abs=0.02)


def test_a_search_is_not_fooled_by_deep_queues() -> None:
    for found in Rig(SimulatedDut(SHARP, tester_max_pps=1e6)).throughputs():
        assert found.load_pps == pytest.approx(200_000, rel=0.005)
