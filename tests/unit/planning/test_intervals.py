# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from tests.unit.planning.costly import chain
from tests.unit.planning.test_cost_model import model_of
from weir.planning.model.capacity import predict, predict_blind, state_deviation
from weir.planning.model.intervals import Residual, Spread, held_interval, spread


def seen(count: int, draw: Random, own: float, scatter: float, *, heavy: bool = False) -> list[Residual]:
    """Errors of rates whose own deviations differ; `heavy`: one in ten is three times as far off."""
    found = []
    for _ in range(count):
        deviation = own * draw.uniform(0.5, 2)
        wild = 3.0 if heavy and draw.random() < 0.1 else 1.0
        found.append(Residual(draw.gauss(0, wild * math.hypot(deviation, scatter)), deviation))
    return found


def coverage(*, heavy: bool) -> float:
    """Of new errors of the same kind, over many calibrations of thirty set-ups."""
    draw, held, tried = Random(7), 0, 0
    for _ in range(300):
        known = spread(seen(30, draw, 0.02, 0.04, heavy=heavy), 0.0)
        for one in seen(40, draw, 0.02, 0.04, heavy=heavy):
            low, high = known.bounds(1.0, one.deviation)
            held += low <= math.exp(one.error) <= high
            tried += 1
    return held / tried


@pytest.mark.parametrize("heavy", [False, True])
def test_intervals_hold_95_percent_of_new_rates_however_errors_are_spread(heavy: bool) -> None:
    assert coverage(heavy=heavy) == pytest.approx(0.95, abs=0.015)


def test_what_the_model_says_of_its_own_error_does_not_count_twice() -> None:
    own_alone = seen(400, Random(3), 0.05, 0.0)
    assert spread(own_alone, 0.001).scatter < 0.02
    both = seen(400, Random(3), 0.02, 0.05)
    assert spread(both, 0.001).scatter == pytest.approx(0.05, rel=0.15)


def test_few_rates_say_little_so_intervals_are_wide() -> None:
    few, many = spread(seen(4, Random(1), 0.0, 0.05), 0.0), spread(seen(400, Random(1), 0.0, 0.05), 0.0)
    assert few.times > 1.3 * many.times
    assert spread([], 0.005).scatter == 0.05


def test_no_rate_is_known_better_than_the_host_lets_it() -> None:
    assert spread([Residual(0.0, 0.0)] * 30, 0.08).scatter == 0.08


def test_bounds_are_as_far_off_in_shares_below_as_above() -> None:
    low, high = Spread(0.03, 2.0).bounds(10e6, 0.04)
    assert low * high == pytest.approx(10e6**2)
    assert high == pytest.approx(10e6 * math.exp(0.1))


def test_how_many_held_says_how_many_will() -> None:
    assert held_interval(40, 40) == pytest.approx((0.9119, 1.0), abs=1e-4)
    assert held_interval(38, 40) == pytest.approx((0.8308, 0.9939), abs=1e-4)


def test_a_blind_rate_is_that_of_the_median_state_and_its_interval_has_all_states() -> None:
    near = model_of(0.0)
    moved = replace(near, distances_cycles=(100.0, 100.0, 300.0), slowed=1.1)
    two = chain(("nat", "acl", "dpi"), core=1)
    said = predict_blind(moved, two)
    assert said.pps == pytest.approx(predict(near, two).pps / 1.1)
    still = predict_blind(replace(near, distances_cycles=(100.0,) * 3), two)
    assert said.high_pps / said.low_pps > 1.1 * still.high_pps / still.low_pps


def test_on_one_core_no_distance_makes_a_rate_less_certain() -> None:
    moved = replace(model_of(0.0), distances_cycles=(100.0, 100.0, 300.0))
    assert state_deviation(moved, chain(("nat",))) == 0.0
    assert state_deviation(moved, chain(("nat",), core=1)) > 0.05
