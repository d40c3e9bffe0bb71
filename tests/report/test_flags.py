# SPDX-License-Identifier: Apache-2.0
"""Letters beside a rate, and the words for an answer that is an interval."""

from __future__ import annotations

from typing import Any

import pytest

from weir.report import legend, rates
from weir.report.rates import FLAGS, flags, worse_state
from weir.results.result import Throughput

from .disturbed import disturbed, found
from .synthetic import result


@pytest.mark.parametrize(
    ("fields", "letters"),
    [
        ({}, ""),
        ({"tester_bound": True}, "T"),
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


def test_a_worse_state_says_how_much() -> None:
    assert worse_state(found(1e6)) == ""
    assert worse_state(found(1e6, slower_times=1.4)) == "1.40 times slower"
    both = worse_state(found(1e6, slower_times=1.4, farther_times=4.6))
    assert both == "1.40 times slower and 4.60 times farther from each other"


def test_flags_that_occur_are_explained_and_no_others() -> None:
    assert [*legend.flags_used(disturbed())] == ["T", "L", "S", "D"]
    assert set("TLSDUIX") == FLAGS.keys()


def test_an_older_result_with_labelled_stalls_is_read_and_says_what_they_mean() -> None:
    older = result()
    assert any(one.stall_labelled for s in older.setups for c in s.cases for one in c.throughput)
    assert legend.flags_used(older)["D"].endswith("stalls of the host can explain the loss that bounds it")
    assert "older" not in legend.flags_used(disturbed())["D"]


def test_a_search_that_ran_out_of_time_answers_with_both_bounds() -> None:
    late = found(1e6, lower_bound_pps=1e6, upper_bound_pps=2.5e6, out_of_time=True, l2_bps=1e6 * 512)
    assert rates.interval_pps(late) == (1e6, 2.5e6)
    assert rates.mpps(late) == "1.000–2.500"
    assert rates.gbps(late) == "0.512–1.280"
    assert (rates.single_pps(late), rates.spread(late), rates.farthest(late)) == (None, None, None)


def test_the_interval_holds_what_other_rounds_found() -> None:
    late = found(2e6, lower_bound_pps=2e6, upper_bound_pps=2.5e6, out_of_time=True)
    late.load_min_pps, late.load_max_pps = 1.5e6, 3e6
    assert rates.interval_pps(late) == (1.5e6, 3e6)


def test_a_rate_is_one_number_with_its_spread() -> None:
    one = found(2e6, rounds=(1.8e6, 2.1e6))
    assert rates.interval_pps(one) is None
    assert (rates.mpps(one), rates.span_mpps(one)) == ("2.000", "1.800–2.100")
    assert rates.farthest(one) == pytest.approx(0.1)
    assert rates.spread(one) == pytest.approx(0.15)
    assert rates.farthest(found(2e6)) is None
