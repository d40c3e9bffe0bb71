# SPDX-License-Identifier: Apache-2.0
"""A slow system with a deep queue: what waits in it behind an earlier trial, and what is said of that."""

from __future__ import annotations

import pytest

from tests.simulated.deep import CARRIED_PPS, Deep
from weir.lab.delay import LatencyOptions

from .rig import MEASURE, STEADY, Rig


def test_what_waits_behind_an_earlier_trial_is_invalid_for_that_and_for_no_place_that_drops() -> None:
    trial = Rig(Deep(STEADY, ahead=100_000)).runner(retries=0).run("latency", 400, 6).trial
    came = CARRIED_PPS * 66.1
    assert trial.delivered == 0
    assert trial.from_earlier == pytest.approx(came, rel=0.01)
    assert trial.invalid_because == [
        f"{trial.from_earlier:,} packets of an earlier trial came in it: the system under test was not yet "
        "empty of them, and what was sent waited behind them. Give it shorter queues, or send less: lower "
        "loads, or a lower `measure.max_load_pps`. If it holds each packet for so long, wait longer for the "
        "next one: `measure.trial.drain_ms`, of RFC 2544 `measure.rfc2544.residual_s`."
    ]
    assert trial.doubted == ["held"]


def test_losses_behind_earlier_packets_are_no_answer_though_all_are_accounted_for() -> None:
    trial = Rig(Deep(STEADY, ahead=2_000)).runner(retries=0).run("latency", 400, 6).trial
    assert 0 < trial.delivered < trial.offered
    assert trial.from_earlier == pytest.approx(2_000, rel=0.01)
    assert trial.doubted == ["held"]


def test_a_trial_that_is_repeated_until_the_system_is_empty_of_earlier_ones_is_valid() -> None:
    rig = Rig(Deep(STEADY, ahead=50_000))
    assert rig.runner().valid("latency", 400, 6).trial.valid
    assert [trial.valid for trial in rig.trials] == [False, False, True]


def test_what_came_in_time_behind_an_earlier_trial_that_was_given_up_is_invalid_for_its_delays() -> None:
    dut = Deep(STEADY)
    runner = Rig(dut).runner(retries=0, drain_ms=8000)
    flood = runner.run("search", 40_000, 1).trial
    (why,) = flood.invalid_because  # and not what is unaccounted: its account is not closed
    assert why.startswith("Packets still came 60 s after its end")
    trial = runner.run("latency", 10, 6).trial
    assert trial.delivered == trial.offered == 60
    assert trial.from_earlier > 0
    assert "packets of an earlier trial came in it" in trial.invalid_because[0]
    assert runner.run("latency", 10, 6).trial.valid


def test_what_waits_behind_a_trial_of_another_frame_is_invalid_for_its_delays_too() -> None:
    rig = Rig(Deep(STEADY))
    rig.runner(retries=0, drain_ms=8000).run("search", 40_000, 1)
    trial = rig.runner(retries=0, drain_ms=8000).run("curve", 10, 6).trial
    assert trial.delivered == trial.offered == 60
    assert "packets of an earlier trial came in it" in trial.invalid_because[0]


def test_a_load_that_it_carries_is_valid_where_it_is_given() -> None:
    latency = LatencyOptions(loads=("400pps",), duration_s=5, settle_s=1)
    case = Rig(Deep(STEADY), MEASURE.model_copy(update={"goals": (), "latency": latency})).case()
    (point,) = case.delays
    assert [(trial.valid, trial.delivered) for trial in point.trials] == [(True, 2400)]
