# SPDX-License-Identifier: Apache-2.0
"""The speed-up model: equations (3) to (5), and factors found again in rates that they made."""

from __future__ import annotations

import random

import pytest

from weir.planning.model.speedup import (
    Factors,
    Point,
    best_cores,
    fit,
    points_of_csv,
    sentences,
    speedup,
)

FACTORS = Factors(nonparallel=0.04, fixed_overhead=0.03, cumulative_overhead=0.003)


def measured(reference_pps: float, noise: float, factors: Factors = FACTORS) -> list[Point]:
    draw = random.Random(1)
    return [
        Point(n, reference_pps * speedup(n, factors) * (1 + draw.gauss(0, noise)))
        for n in (1, 2, 4, 6, 8, 12, 16)
        for _ in range(3)
    ]


def test_without_any_overhead_n_cores_are_n_times_as_fast() -> None:
    assert speedup(7, Factors()) == pytest.approx(7)


def test_a_nonparallel_part_alone_is_amdahls_law() -> None:
    assert speedup(4, Factors(nonparallel=0.1)) == pytest.approx(1 / (0.1 + 0.9 / 4))


def test_every_factor_but_the_scale_lowers_the_speedup() -> None:
    for worse in (
        Factors(nonparallel=0.05, fixed_overhead=0.03, cumulative_overhead=0.003),
        Factors(nonparallel=0.04, fixed_overhead=0.04, cumulative_overhead=0.003),
        Factors(nonparallel=0.04, fixed_overhead=0.03, cumulative_overhead=0.004),
    ):
        assert speedup(8, worse) < speedup(8, FACTORS)


def test_more_cores_than_the_best_number_are_slower() -> None:
    best = best_cores(FACTORS)
    assert best is not None
    assert speedup(best - 1, FACTORS) <= speedup(best, FACTORS) >= speedup(best + 1, FACTORS)
    assert best_cores(Factors(nonparallel=0.1)) is None


def test_all_factors_are_found_again_when_the_reference_is_known() -> None:
    found = fit(measured(2e6, 0.003), reference_pps=2e6)
    for name, interval in found.intervals.items():
        assert interval.low <= getattr(found.factors, name) <= interval.high
    assert found.factors.nonparallel == pytest.approx(0.04, abs=0.01)
    assert found.factors.fixed_overhead == pytest.approx(0.03, abs=0.01)
    assert found.factors.cumulative_overhead == pytest.approx(0.003, abs=0.0005)
    assert found.residual < 0.02


def test_without_a_reference_the_fixed_overhead_is_not_told_apart_and_the_fit_says_so() -> None:
    found = fit(measured(2e6, 0.003))
    assert found.factors.fixed_overhead == 0
    assert "fixed_overhead" not in found.intervals
    assert found.reference_pps == pytest.approx(2e6 / (1 + 0.03), rel=0.01)
    assert any("cannot be told apart" in line for line in sentences(found))


def test_a_fit_of_exact_rates_is_exact() -> None:
    found = fit(measured(3e6, 0.0), reference_pps=3e6)
    assert found.residual < 1e-4
    assert found.factors.cumulative_overhead == pytest.approx(0.003, rel=0.01)


@pytest.mark.long
def test_linear_scaling_has_no_best_number_of_cores_that_anybody_has() -> None:
    found = fit([Point(n, 1e6 * n) for n in (1, 2, 4, 8)])
    assert found.best_cores is None or found.best_cores > 100
    assert found.factors.nonparallel < 0.001


def test_three_different_numbers_of_cores_are_needed() -> None:
    with pytest.raises(ValueError, match="2 different numbers of cores; expected 3"):
        fit([Point(1, 1e6), Point(2, 2e6), Point(2, 2.1e6)])


def test_a_csv_gives_points_and_says_which_line_is_wrong() -> None:
    assert points_of_csv("cores,pps\n1,1e6\n2, 1.9e6\n") == [Point(1, 1e6), Point(2, 1.9e6)]
    with pytest.raises(ValueError, match="first line `cores,pps`"):
        points_of_csv("1,1000000\n")
    with pytest.raises(ValueError, match="line 3"):
        points_of_csv("cores,pps\n1,1e6\ntwo,2e6\n")
    with pytest.raises(ValueError, match="line 5: expected a whole number"):
        points_of_csv('cores,pps\n\n"2\n",1e6\ntwo,2e6\n')
    with pytest.raises(ValueError, match="line 2: expected 1 core or more, and a rate above 0"):
        points_of_csv("cores,pps\n4,inf\n")
    with pytest.raises(ValueError, match="line 2: expected 1 core or more"):
        points_of_csv("cores,pps\n0,1e6\n")
