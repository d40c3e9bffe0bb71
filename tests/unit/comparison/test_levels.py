# SPDX-License-Identifier: Apache-2.0
"""Noise that is not normal makes no levels: most values equal, or a machine with two states."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from weir.comparison.exactness import exactness
from weir.comparison.levels import INSIDE, Levels, levels
from weir.comparison.trend import Key, trend

EXACT = 1e-4
HISTORIES = 20


def carried(dice: random.Random, runs: int) -> list[float]:
    """Of a load: all, but for one night in ten, which loses up to a tenth."""
    return [1e6 * (1 - dice.random() / 10 if dice.random() < 0.1 else 1) for _ in range(runs)]


def two_states(dice: random.Random, runs: int) -> list[float]:
    """A quarter of the runs 30 % slower."""
    return [1e6 * dice.gauss(1, 0.01) * dice.choice((0.7, 1, 1, 1)) for _ in range(runs)]


def found(values: list[float]) -> Levels:
    return levels(values, 0.01, EXACT)


@pytest.mark.parametrize("kind", [carried, two_states])
@pytest.mark.parametrize("runs", [30, 100])
def test_noise_with_long_tails_is_no_step(
    kind: Callable[[random.Random, int], list[float]], runs: int
) -> None:
    histories = (kind(random.Random(seed), runs) for seed in range(HISTORIES))
    assert sum(bool(found(values).steps) for values in histories) == 0


def test_where_most_values_are_equal_the_others_say_how_wide_the_band_is() -> None:
    for seed in range(HISTORIES):
        values = carried(random.Random(seed), 100)
        values[-3:] = [0.98e6, 0.95e6, 0.97e6]
        one = found(values)
        assert one.noise > 0.001
        begins = [step.index for step in one.steps]
        middles = [one.middles[bisect_right(begins, index)] for index in range(len(values))]
        off = [abs(math.log(value / middle)) for value, middle in zip(values, middles, strict=True)]
        assert sum(each <= 1.001 * one.band for each in off) >= INSIDE * len(values)


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_step_is_found_among_values_of_which_most_are_equal(factor: float) -> None:
    hits = 0
    for seed in range(HISTORIES):
        values = carried(random.Random(seed), 100)
        values[40:] = [value * factor for value in values[40:]]
        hits += any(abs(step.index - 40) <= 5 for step in found(values).steps)
    assert hits >= 0.9 * HISTORIES


def test_of_a_few_values_with_long_tails_no_step_would_be_seen() -> None:
    """Ranks of six and six never say as much as they must."""
    values = [0.9e6, 0.95e6, *[1e6] * 7, 0.92e6, 0.97e6, 1e6]
    assert found(values).smallest_seen == math.inf
    assert found([1e6] * 12).smallest_seen == pytest.approx(0.01)


def test_equal_values_are_known_no_better_than_they_can_tell() -> None:
    one = levels([1e6] * 12, 0.001, EXACT)
    assert one.noise == pytest.approx(EXACT / 12**0.5)
    assert one.band == pytest.approx(1.96 * one.noise, rel=0.001)
    (step,) = levels([1e6] * 6 + [0.98e6] * 6, 0.01, EXACT).steps
    assert (step.index, step.p_value > 0) == (6, True)
    # A width of 5 %: the next value up is one that the search could have ended with before.
    assert levels([1e6] * 6 + [0.97e6] * 6, 0.01, 0.05).steps == ()


def test_how_exactly_a_value_is_known_is_of_its_kind_and_of_the_lab() -> None:
    lab = {"measure": {"relative_width": 0.02, "latency": {"duration_s": 2.0}}}
    assert exactness("pps", "NDR", 1e6, lab) == 0.02
    assert exactness("us", "latency P99 at 50% PDR", 3.0, lab) == 0
    assert exactness("pps", "carried at 1Mpps", 1e6, lab) == 1e-4
    assert exactness("pps", "carried at 100pps", 100, lab) == 1 / 200
    assert exactness("pps", "carried at 100pps", 100, {}) == 1e-4
    assert exactness("pps", "NDR", 1e6, {"measure": None}) == 0


@dataclass(frozen=True)
class Night:
    """A point of a history."""

    run: str
    value: float
    started_at: str = "2026-01-01T00:00:00Z"
    weir: str = "0.1"
    comparable: bool = True
    at_least: bool = False
    spec_sha256: str = "lab"


def test_a_trend_knows_how_exactly_its_lab_measures() -> None:
    key: Key = ("PVP", "direct", "64", "NDR", "pps", "alpha", False)
    nights = [Night(str(number), 1e6) for number in range(12)]
    (one,) = trend("lab", {key: nights}, 0.01, {"lab": {"measure": {"relative_width": 0.02}}}).series
    assert one.noise == pytest.approx(0.02 / 12**0.5)
    assert one.band_low == pytest.approx(1e6 * math.exp(-1.96 * 0.02 / 12**0.5), rel=1e-4)
