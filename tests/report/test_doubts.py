# SPDX-License-Identifier: Apache-2.0
"""What is said under Read with care."""

from __future__ import annotations

from typing import Any

import pytest

from weir.report import doubts
from weir.results.result import Result, Trial

from .disturbed import disturbed, found, trial
from .synthetic import result


def of(made: Result, kind: str) -> list[str]:
    return [one.sentence for one in doubts.doubts(made) if one.kind == kind]


def carrying(mpps: float, **fields: Any) -> Result:
    """`direct` alone, found at 1 Mpps, and one trial."""
    made = disturbed()
    made.setups = made.setups[:1]
    case = made.setups[0].cases[0]
    case.throughput, case.curve = [found(1e6)], []
    case.trials = [trial(mpps * 1e6, **({"lost_share": 0.0} | fields))]
    return made


def test_an_answer_out_of_time_is_said_with_both_bounds_and_the_reason() -> None:
    assert of(disturbed(), "L") == ["ovs PVP, frame 64: NDR out of time: 0.100 to 0.250 Mpps. Late."]


def test_a_slower_state_is_said_with_how_much() -> None:
    assert of(disturbed(), "S") == [
        "ovs-dpdk PVP, frame 64: NDR found, but only while cores were 1.40 times slower and 4.60 times "
        "farther from each other than at their best on this machine"
    ]


def test_a_disturbed_rate_says_how_much_was_left_out() -> None:
    assert of(disturbed(), "D") == [
        "ovs-dpdk PVP, frame 64: NDR found, but 56% of the time of the trials that bound it was left out"
    ]


def test_a_rate_far_below_what_a_trial_carried_without_loss_is_contradicted() -> None:
    assert of(disturbed(), "contradicted") == [
        "ovs-dpdk PVP, frame 64: NDR found at 1.200 Mpps, but a valid trial carried 2.400 Mpps without loss "
        "(search, 0.19 s)"
    ]


@pytest.mark.parametrize(("mpps", "contradicted"), [(1.1, False), (1.12, True)])
def test_ten_percent_are_allowed(mpps: float, *, contradicted: bool) -> None:
    assert bool(of(carrying(mpps), "contradicted")) is contradicted


def test_a_trial_of_a_slower_state_contradicts_too() -> None:
    assert of(carrying(1.5, slower_times=1.4), "contradicted")


@pytest.mark.parametrize(
    "fields",
    [{"lost_share": 0.01}, {"valid": False}, {"purpose": "burst"}, {"purpose": "calibration"}],
    ids=str,
)
def test_what_lost_packets_is_invalid_or_no_load_of_one_rate_contradicts_nothing(
    fields: dict[str, Any],
) -> None:
    assert not of(carrying(1.5, **fields), "contradicted")


def test_the_interval_of_a_late_search_is_contradicted_by_its_upper_end_alone() -> None:
    made = carrying(1.5)
    late = found(1e6, upper_bound_pps=1.6e6, out_of_time=True)
    made.setups[0].cases[0].throughput = [late]
    assert not of(made, "contradicted")
    late.upper_bound_pps = 1.2e6
    assert of(made, "contradicted")


def test_an_undivided_trial_of_an_older_result_counts_as_a_whole() -> None:
    made = carrying(1.5)
    case = made.setups[0].cases[0]
    case.trials[0].counted = None
    assert not of(made, "contradicted"), "its packets that were lost in the absence count there"
    whole: Trial = case.trials[0]
    whole.delivered = whole.offered
    assert of(made, "contradicted")


def test_goals_with_the_same_words_stand_together() -> None:
    said = of(result(), "I")
    assert said[0].startswith("ovs PVP, frame IMIX a7d4g: NDR and PDR irregular: the lowest load")


def test_a_short_report_has_a_sentence_a_kind() -> None:
    assert doubts.grouped(disturbed(), "NDR") == [
        "Out of time (L): ovs PVP, frame 64 (0.100 to 0.250 Mpps).",
        "Slower state (S), against the cores' best on this machine: ovs-dpdk PVP, frame 64 (1.40 times "
        "slower and 4.60 times farther from each other).",
        "Disturbed (D), share of the time that was left out: ovs-dpdk PVP, frame 64 (56%).",
        "Contradicted by a valid trial of the same case that lost nothing: ovs-dpdk PVP, frame 64 (1.200 "
        "Mpps, a trial 2.400).",
    ]
    assert doubts.grouped(disturbed(), "PDR") == []
