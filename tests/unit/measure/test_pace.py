# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from random import Random

import pytest

from tests.unit.measure.clocked import ledger
from weir.measure.pace import Slowing, core_paces, slope


def test_each_core_has_the_pieces_that_it_timed_between_two_ledgers() -> None:
    found = core_paces(ledger(1, 0, paces=(100, 150)), ledger(2, 0, paces=(100, 150)))
    assert [(one.core, one.pieces, one.cycles) for one in found] == [(0, 2000, 200_000), (1, 2000, 300_000)]


def test_packets_cost_more_the_slower_the_core_is() -> None:
    slowing = Slowing(best_cycles=800, slope=0.9)
    assert slowing.times(800) == 1
    assert slowing.times(1200) == pytest.approx(1.45)


@pytest.mark.parametrize("slowing", [Slowing(), Slowing(best_cycles=800)])
def test_a_pace_that_is_not_known_corrects_nothing(slowing: Slowing) -> None:
    assert math.isinf(slowing.slowness(math.inf))
    assert slowing.times(math.inf) == 1


def group(level: float, steepness: float, draw: Random) -> list[tuple[float, float]]:
    """Windows of a set-up whose packets cost `level` at best, with a few that were stalled."""
    paces = [draw.uniform(1, 1.35) for _ in range(30)]
    found = [(pace, level * (1 + steepness * (pace - 1)) * draw.gauss(1, 0.02)) for pace in paces]
    return [*found, (1.1, 3 * level), (1.2, 2 * level)]


def test_the_slope_is_found_through_set_ups_of_all_levels() -> None:
    draw = Random(4)
    groups = [group(level, 0.9, draw) for level in (80, 200, 1000)]
    assert slope(groups) == pytest.approx(0.9, abs=0.1)


def test_a_few_windows_or_one_pace_tell_no_slope() -> None:
    assert slope([[(1.0, 100.0), (1.3, 130.0)]]) is None
    assert slope([[(1.0, 100.0)] * 20]) is None
