# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.unit.measure.clocked import CALM, Played, ledger
from weir.measure.windows import Probe, Window, settle, windows

FULL, HALF = 0.01, 0.5


def window(*, idle: float = FULL, piece_cycles: tuple[float, float] = (100, 100)) -> Window:
    """A second in which the tester, on core 0, and the function on core 1 had these pieces."""
    return Window(ledger(0, 0, core=1), ledger(1, 1_000_000, core=1, idle=idle, piece_cycles=piece_cycles))


def test_the_pace_of_a_window_is_that_of_the_core_that_limits() -> None:
    found = window(piece_cycles=(160, 110))
    assert found.limiting() == {1}
    assert found.piece_cycles() == 110


def test_the_testers_core_limits_where_no_function_is_busy_all_the_time() -> None:
    found = window(idle=HALF, piece_cycles=(160, 110))
    assert found.limiting() == {0}
    assert found.piece_cycles() == 160


def test_a_window_in_which_hardly_any_work_was_timed_has_no_pace() -> None:
    short = Window(ledger(0, 0), ledger(0.004, 1_000))
    assert math.isinf(short.piece_cycles())


@pytest.mark.parametrize(("after", "stayed"), [(330, True), (80, False)])
def test_a_core_that_was_moved_has_another_distance_afterwards(after: float, *, stayed: bool) -> None:
    found = Window(CALM.before, CALM.after, (320, after))
    assert found.stayed() is stayed
    assert found.distance_cycles() == (320 + after) / 2


def test_one_core_alone_has_no_distance() -> None:
    assert CALM.stayed()
    assert CALM.distance_cycles() is None


def test_each_window_begins_as_the_one_before_ended() -> None:
    looks = iter([Probe(at, {1: 100.0 + 2 * at}) for at in range(100)])
    found = list(windows(Played([ledger(0, 0)]), lambda _: None, lambda: next(looks)))
    assert [one.distances_cycles for one in found[:2]] == [(0, 1), (1, 2)]
    assert [one.probed_cycles for one in found[:2]] == [{1: 101}, {1: 103}]


def test_a_core_on_which_no_loop_times_itself_has_the_pace_of_before_and_after() -> None:
    found = replace(window(piece_cycles=(160, 110)), probed_cycles={1: 300.0, 2: 140.0})
    assert found.piece_cycles_by_core == {0: 160, 1: 110, 2: 140}


def test_a_core_that_could_not_be_timed_before_or_after_has_no_pace() -> None:
    looks = iter([Probe(80, {0: 100.0, 1: 100.0}), *[Probe(80, {0: 100.0})] * 99])
    first = next(windows(Played([ledger(0, 0)]), lambda _: None, lambda: next(looks)))
    assert first.probed_cycles == {0: 100}


def test_it_has_settled_when_rates_stand_still_and_nothing_is_dropped() -> None:
    steady = [ledger(n, n * 1000) for n in range(6)]
    assert settle(Played(steady), lambda _: None)


def test_rates_that_never_stand_still_are_told() -> None:
    restless = [ledger(n, n * n * 1000) for n in range(70)]
    assert not settle(Played(restless[:6] + [ledger(n, 0) for n in range(6, 70)]), lambda _: None)
