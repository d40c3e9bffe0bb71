# SPDX-License-Identifier: Apache-2.0
"""Ratios are of pairs of rounds in one state of the machine; of bounds they are bounds, or none."""

from __future__ import annotations

import pytest

from weir.report.rates import NoRatio, Ratio, compared
from weir.results.result import Throughput

from .disturbed import found

BEST = (None, None)


def test_it_is_the_median_of_the_pairs_of_the_same_round_with_their_least_and_greatest() -> None:
    one = found(6e6, rounds=(4e6, 6e6, 9e6))
    base = found(2e6, rounds=(2e6, 2e6, 1e6))
    assert compared(one, base) == Ratio(3.0, 2.0, 9.0)


def test_a_round_that_only_one_of_them_has_is_no_pair() -> None:
    one, base = found(6e6, rounds=(4e6, 6e6, 9e6)), found(2e6, rounds=(2e6, 2e6))
    one.rounds = one.rounds[1:]
    assert compared(one, base) == Ratio(3.0, 3.0, 3.0)


def test_pairs_with_neither_in_a_worse_state_are_preferred() -> None:
    slow = ((1.5, None), BEST)
    assert compared(
        found(8e6, rounds=(4e6, 8e6), states=slow), found(2e6, rounds=(2e6, 2e6), states=slow)
    ) == Ratio(4.0, 4.0, 4.0)


def test_pairs_that_are_both_as_slow_and_as_far_count_where_there_is_no_better_one() -> None:
    one = found(4e6, rounds=(4e6,), states=((1.5, 4.0),))
    base = found(2e6, rounds=(2e6,), states=((1.6, 4.9),))
    assert compared(one, base) == Ratio(2.0, 2.0, 2.0)


@pytest.mark.parametrize("state", [(1.5, None), (None, 4.0)])
def test_two_that_were_only_measured_in_different_states_have_no_ratio(
    state: tuple[float | None, float | None],
) -> None:
    fields = dict(zip(("slower_times", "farther_times"), state, strict=True))
    one = found(4e6, rounds=(4e6,), states=(state,), **fields)
    base = found(2e6, rounds=(2e6,))
    assert compared(one, base) is NoRatio.OTHER_STATE
    assert compared(base, one) is NoRatio.OTHER_STATE


def test_best_states_in_different_rounds_compare_by_their_medians() -> None:
    one = found(4e6, rounds=(1e6, 4e6), states=((1.5, None), BEST), load_min_pps=3.8e6, load_max_pps=4.2e6)
    base = found(2e6, rounds=(2e6, 1e6), states=(BEST, (1.5, None)), load_min_pps=1.9e6, load_max_pps=2.1e6)
    ratio = compared(one, base)
    assert isinstance(ratio, Ratio)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2.0, 3.8 / 2.1, 4.2 / 1.9))


def test_without_rounds_it_is_of_the_medians_as_far_apart_as_the_repeats_allow() -> None:
    one = found(4e6, load_min_pps=3e6, load_max_pps=5e6)
    assert compared(one, found(2e6)) == Ratio(2.0, 1.5, 2.5)


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [
        (False, False, Ratio(2.0, 2.0, 2.0, "=")),
        (True, False, Ratio(2.0, 2.0, 2.0, ">=")),
        (False, True, Ratio(2.0, 2.0, 2.0, "<=")),
        (True, True, NoRatio.BOTH_BOUND),
    ],
)
def test_of_a_tester_bound_rate_it_is_a_bound_and_of_two_there_is_none(
    *, numerator: bool, denominator: bool, expected: Ratio | NoRatio
) -> None:
    assert compared(found(4e6, tester_bound=numerator), found(2e6, tester_bound=denominator)) == expected


def test_of_an_irregular_or_missing_side_there_is_none() -> None:
    irregular = Throughput(goal="NDR", goal_loss_ratio=0, status="irregular")
    assert compared(found(4e6), irregular) is NoRatio.NO_RATE
    assert compared(irregular, found(4e6)) is NoRatio.NO_RATE
    assert compared(found(4e6), None) is NoRatio.NO_RATE


def test_of_a_search_that_ran_out_of_time_there_is_none() -> None:
    late = found(2e6, out_of_time=True)
    assert compared(found(4e6), late) is NoRatio.OUT_OF_TIME
    assert compared(late, found(4e6)) is NoRatio.OUT_OF_TIME
    assert compared(late, late) is NoRatio.OUT_OF_TIME


def test_the_baseline_is_one_times_itself_though_the_tester_limits_it() -> None:
    base = found(4e6, tester_bound=True)
    assert compared(base, base) == Ratio(1.0, 1.0, 1.0)


def test_signs_and_intervals_are_written() -> None:
    assert Ratio(24.4, 23.0, 25.0, ">=").text == "≥24.4"
    assert Ratio(0.5, 0.4, 0.6, "<=").text == "≤0.50"
    assert Ratio(0.5, 0.4, 0.6).span == "0.40–0.60"
    assert Ratio(0.5, 0.5001, 0.5002).span == ""
