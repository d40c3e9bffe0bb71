# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from random import Random

import pytest

from tests.unit.measure.clocked import ledger
from weir.measure.core_speed import Slowing, best_cycles, core_speeds, slope


def test_each_core_has_the_pieces_that_it_timed_between_two_ledgers() -> None:
    found = core_speeds(ledger(1, 0, piece_cycles=(100, 150)), ledger(2, 0, piece_cycles=(100, 150)))
    assert [(one.core, one.pieces, one.cycles) for one in found] == [(0, 2000, 200_000), (1, 2000, 300_000)]


def test_packets_cost_more_the_slower_the_core_is() -> None:
    slowing = Slowing(best_cycles=800, slope=0.9)
    assert slowing.times(800) == 1
    assert slowing.times(1200) == pytest.approx(1.45)


def test_a_core_that_was_not_timed_is_not_corrected() -> None:
    slowing = Slowing(best_cycles=800)
    assert math.isinf(slowing.slowness(math.inf))
    assert slowing.times(math.inf) == 1


def test_where_no_core_was_ever_timed_none_was_slow() -> None:
    assert Slowing().slowness(math.inf) == 1
    assert Slowing().times(math.inf) == 1


def test_no_core_is_faster_than_at_its_best() -> None:
    assert Slowing(best_cycles=800).times(780) == 1


def test_the_best_pace_is_not_the_luck_of_one_window() -> None:
    draw = Random(3)
    pieces = [800 * draw.gauss(1, 0.01) for _ in range(3000)] + [math.inf] * 50
    assert best_cycles([*pieces, 500.0]) == pytest.approx(800, rel=0.03)
    assert math.isinf(best_cycles([math.inf]))


def group(level: float, steepness: float, draw: Random) -> list[tuple[float, float]]:
    """Windows of a set-up whose packets cost `level` at best, with a few that were stalled."""
    pieces = [draw.uniform(1, 1.35) for _ in range(30)]
    found = [(speed, level * (1 + steepness * (speed - 1)) * draw.gauss(1, 0.02)) for speed in pieces]
    return [*found, (1.1, 3 * level), (1.2, 2 * level)]


@pytest.mark.parametrize("steepness", [0.5, 0.9, 1.3])
def test_the_slope_is_found_through_set_ups_of_all_levels(steepness: float) -> None:
    draw = Random(4)
    groups = [group(level, steepness, draw) for level in (80, 200, 1000) * 8]
    assert slope(groups) == pytest.approx(steepness, abs=0.03)


def test_a_host_that_is_never_slow_tells_no_slope() -> None:
    draw = Random(5)
    quiet = [[(draw.uniform(1, 1.002), draw.gauss(100, 2)) for _ in range(30)] for _ in range(2)]
    assert slope(quiet) is None


def test_a_few_windows_or_one_pace_tell_no_slope() -> None:
    assert slope([[(1.0, 100.0), (1.3, 130.0)]]) is None
    assert slope([[(1.0, 100.0)] * 20]) is None
