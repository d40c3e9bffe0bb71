# SPDX-License-Identifier: Apache-2.0
"""Few samples each, many measurements: what is usual is found, and chance is not called a change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from weir.comparison.noise import NOTHING, difference, holm, usual

RNG_SEED = 7


def test_variances_that_are_all_the_same_are_drawn_to_their_mean() -> None:
    dice = np.random.default_rng(RNG_SEED)
    variances = 0.04 * dice.chisquare(4, 4000) / 4
    found = usual(variances.tolist(), [4.0] * 4000)
    assert found.variance == pytest.approx(0.04, rel=0.05)
    assert found.freedom > 100
    variance, freedom = found.moderated(1.0, 1)
    assert variance == pytest.approx(0.04, rel=0.3)
    assert freedom > 100


@pytest.mark.parametrize("freedom", [4.0, 12.0])
def test_how_much_variances_differ_is_found_of_what_was_drawn(freedom: float) -> None:
    dice = np.random.default_rng(RNG_SEED)
    true = 0.01 * freedom / dice.chisquare(freedom, 4000)
    variances = true * dice.chisquare(2, 4000) / 2
    found = usual(variances.tolist(), [2.0] * 4000)
    assert found.freedom == pytest.approx(freedom, rel=0.2)
    assert found.variance == pytest.approx(0.01, rel=0.1)


def test_of_few_measurements_nothing_is_usual_and_each_has_its_own_variance() -> None:
    assert usual([0.1, 0.2], [1, 1]) is NOTHING
    assert NOTHING.moderated(0.3, 5) == (0.3, 5)
    assert difference(0.1, *NOTHING.moderated(0.0, 0), (1, 1)) is None


def test_without_anything_usual_it_is_students_test() -> None:
    one, other = [1.0, 1.1, 1.3, 0.9], [1.4, 1.5, 1.2, 1.6]
    variance = (np.var(one, ddof=1) + np.var(other, ddof=1)) / 2
    found = difference(float(np.mean(other) - np.mean(one)), float(variance), 6, (4, 4))
    known = ttest_ind(other, one)
    assert found is not None
    assert found.p_value == pytest.approx(known.pvalue)
    interval = known.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_no_variance_at_all_tells_every_change() -> None:
    same, other = (difference(shift, 0.0, 2, (2, 2)) for shift in (0.0, 0.01))
    assert same is not None
    assert same.p_value == 1.0
    assert other is not None
    assert other.p_value == 0.0
    assert other.low == other.high == 0.01


def test_of_many_p_values_each_is_corrected_for_those_above_it() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([]) == []
    assert not any(math.isnan(p) for p in holm([0.0, 1.0]))
