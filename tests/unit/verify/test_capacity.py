# SPDX-License-Identifier: Apache-2.0
"""The highest rate of calls: what a search found of it, what its limit was, and how that is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weir.lab.application import Application
from weir.lab.measure import Goal
from weir.measure.search import GoalResult
from weir.results.calls import CallCapacity
from weir.verify.report.calls import capacity
from weir.verify.sip.capacity import capacity_of, wanted

SLOW = "the caller kept at most 205 of 230 calls/s: SIPp is too slow"
LATE = "The time limit came before the bounds were as close as asked."
WIDE = GoalResult(Goal(name="calls", loss_ratio=0.05), load_pps=200.0, lower_pps=205.0, upper_pps=230.0)


def told(found: GoalResult) -> str:
    return capacity(capacity_of(found, Application.model_construct(success_ratio=0.95), 7, 61.04))


def test_a_rate_between_two_bounds_is_said_with_what_was_asked_for_and_not_with_what_was_found() -> None:
    assert told(WIDE) == (
        "205 calls/s, at which at least 95 % of the calls succeed; at 230 they do not (7 trials in 61 s)"
    )


def test_rates_below_ten_have_digits_behind_the_point() -> None:
    found = replace(WIDE, load_pps=1.38, lower_pps=1.4, upper_pps=1.5)
    assert told(found).startswith("1.4 calls/s, at which at least 95 % of the calls succeed; at 1.5 they do")


def test_where_the_caller_was_too_slow_the_rate_is_a_bound_and_no_call_is_said_to_have_failed() -> None:
    found = replace(WIDE, tester_limited=True, why=SLOW)
    assert told(found) == (
        "≥ 205 calls/s, at which at least 95 % of the calls succeed; at 230 the caller was the limit "
        "(7 trials in 61 s). The caller kept at most 205 of 230 calls/s: SIPp is too slow."
    )


@pytest.mark.parametrize(
    ("success_ratio", "failed_share"), [(0.9, 10 / 100), (0.95, 10 / 200), (0.999, 1 / 1000)]
)
def test_a_trial_in_which_just_enough_calls_succeed_is_within_the_searchs_goal(
    success_ratio: float, failed_share: float
) -> None:
    (goal,) = wanted(Application(success_ratio=success_ratio)).goals
    assert failed_share <= goal.loss_ratio
    assert goal.loss_ratio == pytest.approx(failed_share)


def test_a_search_that_ran_out_of_time_says_so() -> None:
    found = replace(WIDE, upper_pps=300.0, out_of_time=True, why=LATE)
    assert told(found) == (
        "205 calls/s, at which at least 95 % of the calls succeed; at 300 they do not; out of time between "
        f"the two (7 trials in 61 s). {LATE}"
    )


def test_a_search_out_of_time_below_the_callers_limit_claims_no_failed_calls() -> None:
    said = told(replace(WIDE, upper_pps=300.0, out_of_time=True, tester_limited=True, why=SLOW))
    assert said.startswith("≥ 205 calls/s")
    assert "at 300 the caller was the limit; out of time between the two" in said
    assert "they do not" not in said


def test_the_highest_rate_that_was_tried_is_a_bound_too() -> None:
    found = replace(WIDE, upper_pps=None, why="It carries the highest load tried, 205 calls/s.")
    assert told(found).startswith("≥ 205 calls/s, at which at least 95 % of the calls succeed (7 trials")


@pytest.mark.parametrize("why", ["Even at 10 calls/s the tester was too slow: SIPp.", None])
def test_where_no_rate_was_found_the_reason_is_said(why: str | None) -> None:
    assert told(GoalResult(WIDE.goal, lower_pps=205.0, why=why)) == (why or "no rate was found")


def test_a_record_of_an_older_weir_has_neither_flag() -> None:
    old = CallCapacity.model_validate({"success_ratio": 0.95, "rate_cps": 205, "upper_cps": 230})
    assert (old.tester_limited, old.out_of_time) == (False, False)
