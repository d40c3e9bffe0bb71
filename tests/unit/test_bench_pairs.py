# SPDX-License-Identifier: Apache-2.0
"""Whether a bench meets its target is said of the interval of the median, or not at all."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from itertools import cycle
from types import SimpleNamespace
from typing import cast

import pytest

from bench.pairs import LEVEL, Line, fewest, interval, of_ratios, one_figure
from bench.undisturbed import OTHERS_SHARE_MAX, together_us, undisturbed_pairs


def line(*ratios: float, target: float = 1.0) -> Line:
    return of_ratios("bench", ratios, target=target, detail={})


def test_the_interval_of_the_median_is_of_the_order_statistics_that_binomials_give() -> None:
    """Ranks of the usual tables for 90 %: the 2nd of 10, the 6th of 20, the least of 5."""
    for n, rank in ((5, 1), (7, 1), (8, 2), (10, 2), (11, 3), (20, 6), (150, 65)):
        values = [float(number) for number in range(1, n + 1)]
        assert interval(values[::-1]) == (rank, n + 1 - rank)
    assert fewest() == 5
    assert interval([1.0, 2.0, 3.0, 4.0]) is None
    assert interval([]) is None


@pytest.mark.parametrize("n", [5, 10, 20])
def test_the_interval_holds_the_median_as_often_as_it_says(n: int) -> None:
    dice, held, times = random.Random(7), 0, 4000
    truth = statistics.NormalDist().inv_cdf(0.5)
    for _ in range(times):
        low, high = interval([dice.gauss(0, 1) ** 3 for _ in range(n)]) or (1.0, -1.0)
        held += low <= truth <= high
    assert held / times > LEVEL - 3 * (LEVEL * (1 - LEVEL) / times) ** 0.5


def test_a_target_within_the_interval_is_neither_met_nor_missed() -> None:
    calm = [1.04, 1.05, 1.06, 1.05, 1.05, 1.04, 1.05, 1.06, 1.05, 1.05]
    assert line(*calm).verdict(1.0) == "met"
    assert line(*calm).verdict(1.1) == "MISSED"
    wild = [0.84, 0.9, 0.95, 1.0, 1.04, 1.05, 1.1, 1.3, 1.5, 23.2]
    assert statistics.median(wild) > 1.0
    assert line(*wild).verdict(1.0) == "not told"
    assert line(*wild).verdict(0.9) == "met"  # one pair below is allowed of ten


def test_too_few_pairs_tell_nothing_and_one_figure_of_the_whole_is_taken_as_it_stands() -> None:
    assert line(2.0, 2.0, 2.0, 2.0).verdict(1.0) == "not told"
    assert line(2.0).verdict(1.0) == "not told"
    whole = one_figure("bench", 2.0, n=4, target=1.0, detail={})
    assert (whole.verdict(1.0), whole.verdict(2.0), whole.verdict(2.1)) == ("met", "met", "MISSED")


def test_a_printed_line_says_why_nothing_is_told() -> None:
    assert line(2.0, 2.0).text().endswith("not told whether it meets target 1: fewer pairs than 5")
    spread = line(0.9, 1.0, 1.1, 1.2, 1.3)
    assert spread.text().endswith(
        "not told whether it meets target 1: the median of the pairs may lie on either side"
    )


def measured(*shares: float) -> Callable[[], tuple[int, float]]:
    """Counts how often it is asked; which share of each run others had."""
    of, asked = cycle(shares), SimpleNamespace(times=0)

    def run() -> tuple[int, float]:
        asked.times += 1
        return cast(int, asked.times), next(of)

    return run


def test_a_pair_that_others_disturbed_is_taken_again_both_sides_of_it() -> None:
    found = undisturbed_pairs(measured(0.0), measured(0.0, 0.5, 0.0), 3)
    assert found.taken == [(1, 1), (3, 3), (4, 4)]
    assert (found.again, found.dropped) == (1, 0)


def test_a_pair_that_is_never_calm_is_dropped_and_counted() -> None:
    found = undisturbed_pairs(measured(0.0), measured(OTHERS_SHARE_MAX * 1.01), 2, tries=3)
    assert (found.taken, found.again, found.dropped) == ([], 6, 2)


def test_time_that_two_tell_of_counts_once_and_none_outside_the_run() -> None:
    """The kernel of the program that had the core, and the loop there of the gap."""
    assert together_us([(10, 30), (20, 40), (25, 28), (50, 60)], 100.0) == 40.0
    assert together_us([(-20, 10), (90, 130), (95, 120)], 100.0) == 20.0
    assert together_us([(0, 100), (0, 100), (-5, 200)], 100.0) == 100.0
    assert together_us([(110, 120), (-20, -10)], 100.0) == 0.0
