# SPDX-License-Identifier: Apache-2.0
"""Ratios are of pairs of rounds in one state of the machine; of bounds they are bounds, or none.
Letters beside a rate, and the words for an answer that is an interval."""

from __future__ import annotations

from typing import Any

import pytest

from weir.report import legend, rates
from weir.report.rates import FLAGS, NoRatio, Ratio, compared, flags, worse_state
from weir.results.result import Throughput

from .disturbed import disturbed, found
from .synthetic import result

BEST = (None, None)


def test_it_is_the_median_of_the_pairs_of_the_same_round_with_their_least_and_greatest() -> None:
    one = found(6e6, rounds=(4e6, 6e6, 9e6))
    base = found(2e6, rounds=(2e6, 2e6, 1e6))
    assert compared(one, base) == Ratio(3.0, 2.0, 9.0)


def test_a_round_that_only_one_of_them_has_is_no_pair() -> None:
    one, base = found(6e6, rounds=(4e6, 6e6, 9e6)), found(2e6, rounds=(2e6, 2e6))
    one.rounds = one.rounds[1:]
    assert compared(one, base) == Ratio(3.0, 3.0, 3.0)


def test_without_a_round_that_both_have_there_is_no_ratio() -> None:
    one, base = found(6e6, rounds=(4e6, 6e6)), found(2e6, rounds=(2e6, 2e6))
    one.rounds, base.rounds = one.rounds[1:], base.rounds[:1]
    assert compared(one, base) is compared(base, one) is NoRatio.OTHER_ROUNDS
    base.rounds = []  # of a run that had none, or that none was kept of
    assert getattr(compared(one, base), "value", None) == 3.0


def test_pairs_with_neither_in_a_worse_state_are_preferred() -> None:
    slow = ((1.5, None), BEST)
    assert compared(
        found(8e6, rounds=(4e6, 8e6), states=slow), found(2e6, rounds=(2e6, 2e6), states=slow)
    ) == Ratio(4.0, 4.0, 4.0)


def test_pairs_that_are_both_as_slow_and_as_far_count_where_there_is_no_better_one() -> None:
    one = found(4e6, rounds=(4e6,), states=((1.5, 4.0),), slower_times=1.5, farther_times=4.0)
    base = found(2e6, rounds=(2e6,), states=((1.6, 4.9),), slower_times=1.6, farther_times=4.9)
    assert compared(one, base) == Ratio(2.0, 2.0, 2.0)


def test_a_ratio_of_a_slower_state_than_the_rates_beside_it_says_so() -> None:
    """direct and linux-bridge as a README had them: 4.213 over 0.357 Mpps, and 9.70 of the only round in
    which both had cores as far apart."""
    one = found(4.213e6, rounds=(3.326e6, 4.213e6), states=((None, 4.8), BEST))
    base = found(0.357e6, rounds=(0.343e6, 0.357e6), states=((None, 4.8), (None, 4.8)), farther_times=4.8)
    base = base.model_copy(update={"farther_times": None})
    ratio = compared(one, base)
    assert isinstance(ratio, Ratio)
    assert (ratio.text, ratio.slower) == ("9.70 S", True)
    both = one.model_copy(update={"farther_times": 4.8}), base.model_copy(update={"farther_times": 4.8})
    assert not getattr(compared(*both), "slower", True)


def test_the_sign_of_a_ratio_is_that_of_the_rounds_it_is_of() -> None:
    one = found(8e6, rounds=(4e6, 8e6), states=((1.5, None), BEST), bounds=(True, False), tester_bound=True)
    base = found(2e6, rounds=(2e6, 2e6), bounds=(False, False))
    assert compared(one, base) == Ratio(4.0, 4.0, 4.0, "=")
    one = found(8e6, rounds=(8e6,), bounds=(True,))
    assert compared(one, base) == Ratio(4.0, 4.0, 4.0, ">=")
    assert compared(one, found(2e6, rounds=(2e6,), bounds=(True,))) is NoRatio.BOTH_BOUND


@pytest.mark.parametrize("state", [(1.5, None), (None, 4.0)])
def test_two_that_were_only_measured_in_different_states_have_no_ratio(
    state: tuple[float | None, float | None],
) -> None:
    fields: dict[str, Any] = dict(zip(("slower_times", "farther_times"), state, strict=True))
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
def test_of_a_rate_that_the_tester_or_the_lab_bounds_it_is_a_bound_and_of_two_there_is_none(
    *, numerator: bool, denominator: bool, expected: Ratio | NoRatio
) -> None:
    for by in ("tester_bound", "lab_bound"):
        one, other = (found(pps, **{by: bound}) for pps, bound in ((4e6, numerator), (2e6, denominator)))  # type: ignore[arg-type]
        assert compared(one, other) == expected


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


@pytest.mark.parametrize(
    ("fields", "letters"),
    [
        ({}, ""),
        ({"tester_bound": True}, "T"),
        ({"lab_bound": True}, "M"),
        ({"out_of_time": True}, "L"),
        ({"slower_times": 1.4}, "S"),
        ({"farther_times": 4.6}, "S"),
        ({"left_out_share": 0.5}, ""),
        ({"left_out_share": 0.51}, "D"),
        ({"stall_labelled": True}, "D"),
        ({"unsteady": True}, "U"),
        ({"tester_bound": True, "out_of_time": True, "slower_times": 2.0, "left_out_share": 0.9}, "TLSD"),
    ],
)
def test_each_flag_says_one_thing(fields: dict[str, Any], letters: str) -> None:
    assert flags(found(1e6, **fields)) == letters


def test_irregular_is_a_flag_of_its_own() -> None:
    assert flags(Throughput(goal="NDR", goal_loss_ratio=0, status="irregular")) == "I"


def test_a_rate_of_one_search_of_several_says_so() -> None:
    assert flags(found(1e6, searches=2, repeats=1)) == "R"
    assert flags(found(1e6, searches=2, repeats=2)) == ""
    assert flags(found(1e6, searches=1, repeats=1)) == ""
    assert flags(Throughput(goal="NDR", goal_loss_ratio=0, status="irregular", searches=2)) == "I"


def test_a_worse_state_says_how_much() -> None:
    assert worse_state(found(1e6)) == ""
    assert worse_state(found(1e6, slower_times=1.4)) == "1.40 times slower"
    both = worse_state(found(1e6, slower_times=1.4, farther_times=4.6))
    assert both == "1.40 times slower and 4.60 times slower to pass data to each other"


def test_flags_that_occur_are_explained_and_no_others() -> None:
    assert [*legend.flags_used(disturbed())] == ["T", "L", "S", "D"]
    assert set("TMLSDRUIX") == FLAGS.keys()


def test_an_older_result_with_labelled_stalls_is_read_and_says_what_they_mean() -> None:
    older = result()
    assert any(one.stall_labelled for s in older.setups for c in s.cases for one in c.throughput)
    assert legend.flags_used(older)["D"].endswith("stalls of the host can explain the loss that bounds it")
    assert "older" not in legend.flags_used(disturbed())["D"]


def test_a_search_that_ran_out_of_time_answers_with_both_bounds() -> None:
    late = found(1e6, lower_bound_pps=1e6, upper_bound_pps=2.5e6, out_of_time=True, l2_bps=1e6 * 512)
    assert late.interval_pps == (1e6, 2.5e6)
    assert rates.mpps(late) == "1.000–2.500"
    assert rates.gbps(late) == "0.512–1.280"
    assert (rates.single_pps(late), rates.spread(late), rates.farthest(late)) == (None, None, None)


def test_the_interval_holds_what_other_rounds_found() -> None:
    late = found(2e6, lower_bound_pps=2e6, upper_bound_pps=2.5e6, out_of_time=True)
    late.load_min_pps, late.load_max_pps = 1.5e6, 3e6
    assert late.interval_pps == (1.5e6, 3e6)


def test_a_rate_is_one_number_with_its_spread() -> None:
    one = found(2e6, rounds=(1.8e6, 2.1e6))
    assert one.interval_pps is None
    assert (rates.mpps(one), rates.span_mpps(one)) == ("2.000", "1.800–2.100")
    assert rates.farthest(one) == pytest.approx(0.1)
    assert rates.spread(one) == pytest.approx(0.15)
    assert rates.farthest(found(2e6)) is None
