# SPDX-License-Identifier: Apache-2.0
"""About how long a case takes, from the lab's own options."""

from __future__ import annotations

import pytest

from weir.lab.delay import LatencyOptions
from weir.lab.measure import CurveOptions, Goal, Measure, TrialOptions
from weir.measure.experiment import expected_s

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


def test_more_goals_take_longer() -> None:
    more = (*QUICK.goals, Goal(name="10%", loss_ratio=0.1))
    assert expected_s(QUICK.model_copy(update={"goals": more})) > expected_s(QUICK)
