# SPDX-License-Identifier: Apache-2.0
"""About how long a case takes, from the lab's own options."""

from __future__ import annotations

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.delay import LatencyOptions
from weir.lab.measure import CurveOptions, Goal, Measure, TrialOptions
from weir.measure import measure_setup, no_counters
from weir.measure.expected import BUILDING_S, DECIDING_FEWEST, TRIAL_TAKES_S, expected_s
from weir.measure.one_case import OnChain, Time
from weir.procedures.throughput.expected_command import SPREAD

QUICK = Measure(
    trial=TrialOptions(duration_s=0.1, duration_sum_s=0.3, drain_ms=30),
    curve=CurveOptions(points=6, duration_s=0.1),
    warm_up_s=0.2,
    repeats=1,
    confirm_trials=1,
    time_limit_s=15,
)


def test_a_case_of_a_quick_run_takes_about_ten_seconds_and_a_full_one_minutes() -> None:
    assert 5 < expected_s(QUICK) < 20
    assert 60 < expected_s(Measure()) < 300


def test_searches_take_no_longer_than_their_time_limit() -> None:
    short = QUICK.model_copy(update={"time_limit_s": 1.0})
    assert expected_s(short) < expected_s(QUICK)
    assert expected_s(short) == expected_s(short.model_copy(update={"repeats": 9}))


def test_each_delay_takes_the_time_that_the_lab_gives_it() -> None:
    latency = LatencyOptions(loads=("1Mpps", "2Mpps"), duration_s=60, settle_s=20)
    alone = QUICK.model_copy(update={"goals": ()})
    with_delays = alone.model_copy(update={"latency": latency})
    assert expected_s(with_delays) - expected_s(alone) == pytest.approx(160, abs=1)


@pytest.mark.parametrize(
    ("load", "mean_frame_bytes", "streams", "seconds"),
    [("4pps", 64, 2, 5), ("4pps", 64, 1, 2.5), ("5120bit/s", 64, 2, 2), ("5120bit/s", 640, 2, 20)],
)
def test_a_warm_up_at_a_load_of_a_packet_in_a_while_takes_until_ten_of_each_stream_are_sent(
    load: str, mean_frame_bytes: float, streams: int, seconds: float
) -> None:
    def takes_s(text: str) -> float:
        measure = Measure(goals=(), latency=LatencyOptions(loads=(text,)), warm_up_s=0.2)
        return expected_s(measure, mean_frame_bytes=mean_frame_bytes, streams=streams)

    assert takes_s(load) - takes_s("1Mpps") == pytest.approx(seconds - 0.2)


def test_more_goals_take_longer() -> None:
    more = (*QUICK.goals, Goal(name="10%", loss_ratio=0.1))
    assert expected_s(QUICK.model_copy(update={"goals": more})) > expected_s(QUICK)


def takes_s(measure: Measure, response: Response) -> float:
    """A case of a simulated system, on its own clock."""
    dut = SimulatedDut(response, tester_max_pps=5e6, overhead_s=TRIAL_TAKES_S)
    chain = OnChain(dut, no_counters, lambda _event: None, {}, timing=Time(dut.clock, dut.sleep))
    (case,) = measure_setup(measure, [simulated_traffic()], chain)
    assert case.problem is None
    return BUILDING_S + case.seconds


@pytest.mark.parametrize("measure", [QUICK, Measure(repeats=3)], ids=["quick", "full"])
@pytest.mark.parametrize(
    "response",
    [
        Response(1e6, 1.01e6),
        Response(1e6, 1.3e6),
        Response(3e5, 9e5),
        Response(1e6, 1.3e6, noise=0.1),
        Response(1e6, 1.1e6, background_per_second=5.0),
    ],
)
def test_cases_of_steady_and_of_noisy_systems_take_as_long_as_is_said_before(
    measure: Measure, response: Response
) -> None:
    shortest_s = expected_s(measure, DECIDING_FEWEST) / SPREAD
    assert shortest_s <= takes_s(measure, response) <= expected_s(measure)
