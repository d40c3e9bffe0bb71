# SPDX-License-Identifier: Apache-2.0
"""In which order a run measures, how it spends its budget, and that each point comes once."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.procedures.order import Budget, Order, Visit, relative_width

SETUPS = [("direct", "PVP"), ("direct", "PVVP"), ("ovs", "PVP"), ("ovs", "PVVP")]
DIRECT, OVS = SETUPS[0], SETUPS[2]


def known(_setup: tuple[str, str]) -> float:
    return 0.1


def rounds_of(order: Order) -> list[list[tuple[str, str]]]:
    visits = list(order.visits({}, known))
    return [[one.setup for one in visits if one.round == number] for number in range(1 + visits[-1].round)]


def test_without_a_seed_rounds_go_there_and_back() -> None:
    assert rounds_of(Order(SETUPS, 3)) == [SETUPS, SETUPS[::-1], SETUPS]


def test_a_seed_gives_each_round_an_order_of_its_own_and_the_same_again() -> None:
    many = [(f"way{number}", "PVP") for number in range(20)]
    first = rounds_of(Order(many, 3, seed=4711))
    assert first == rounds_of(Order(many, 3, seed=4711))
    assert first != rounds_of(Order(many, 3, seed=4712))
    assert len({tuple(one) for one in [many, *first]}) == 4
    assert all(sorted(one) == sorted(many) for one in first)


def test_each_place_of_a_shuffled_round_falls_to_each_setup_alike() -> None:
    firsts = Counter(rounds_of(Order(SETUPS, 1, seed=seed))[0][0] for seed in range(2000))
    assert all(400 < firsts[setup] < 600 for setup in SETUPS)


def test_under_a_budget_two_rounds_of_everything_come_before_what_is_known_least() -> None:
    widths = dict(zip(SETUPS, (0.01, 0.02, 0.3, 0.02), strict=True))
    visits = list(Order(SETUPS, 4, widest_first=True).visits({}, widths.__getitem__))
    assert [one.setup for one in visits[:8]] == [*SETUPS, *SETUPS[::-1]]
    assert visits[8:10] == [Visit(OVS, 2), Visit(OVS, 3)]
    # Of two that are known alike, the one with fewer rounds, and the lab's first of these.
    assert visits[10:14] == [
        Visit(SETUPS[1], 2),
        Visit(SETUPS[3], 2),
        Visit(SETUPS[1], 3),
        Visit(SETUPS[3], 3),
    ]
    assert visits[14:] == [Visit(DIRECT, 2), Visit(DIRECT, 3)]


def test_widths_are_asked_for_when_a_visit_is_over_not_before() -> None:
    widths = dict.fromkeys(SETUPS, 0.1)
    visits = Order(SETUPS, 4, widest_first=True).visits({}, widths.__getitem__)
    for _ in range(8):
        next(visits)
    widths[OVS] = 0.5
    assert next(visits) == Visit(OVS, 2)
    widths[OVS], widths[DIRECT] = 0.1, 0.2
    assert next(visits) == Visit(DIRECT, 2)


@given(
    setups=st.integers(1, 6),
    rounds=st.integers(1, 7),
    seed=st.none() | st.integers(0, 2**63 - 1),
    widest_first=st.booleans(),
    kills=st.lists(st.integers(0, 20), max_size=6),
    width=st.randoms(use_true_random=False),
)
def test_each_planned_point_is_measured_exactly_once_however_often_the_run_is_killed(
    *, setups: int, rounds: int, seed: int | None, widest_first: bool, kills: list[int], width: object
) -> None:
    keys = [(f"way{number}", "PVP") for number in range(setups)]
    measured: Counter[Visit] = Counter()
    chance = getattr(width, "random")  # noqa: B009 - of hypothesis, whose type is not its own
    for most in [*kills, None]:
        done = {key: sum(count for one, count in measured.items() if one.setup == key) for key in keys}
        order = Order(keys, rounds, seed=seed, widest_first=widest_first)
        for number, visit in enumerate(order.visits(done, lambda _key: chance())):
            if number == most:
                break
            measured[visit] += 1
    assert measured == {Visit(key, number): 1 for key in keys for number in range(rounds)}


def test_the_width_is_that_of_students_interval_on_logarithms() -> None:
    # t(0.975, 2) = 4.303; logarithms 0, 0.1, 0.2 deviate by 0.1.
    samples = [math.exp(one) * 1e6 for one in (0.0, 0.1, 0.2)]
    assert relative_width(samples) == pytest.approx(4.303 * 0.1 / math.sqrt(3), rel=1e-3)
    assert relative_width([5.0, 5.0]) == 0
    assert relative_width([5.0]) == math.inf
    assert relative_width([]) == 0


@given(st.lists(st.floats(1e3, 1e9), min_size=2, max_size=8), st.floats(0.001, 1000))
def test_the_width_is_a_share_whatever_the_unit(samples: list[float], unit: float) -> None:
    scaled = relative_width([unit * one for one in samples])
    assert scaled == pytest.approx(relative_width(samples), rel=1e-6, abs=1e-9)


class Clock:
    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


def test_nothing_is_begun_that_would_end_after_the_budget() -> None:
    clock = Clock()
    budget = Budget(100.0, clock)
    assert budget.fits(DIRECT)
    clock.now_s += 60
    budget.took(DIRECT, [20.0, 40.0])
    assert budget.left_s == 40
    assert budget.fits(DIRECT)  # as long as its longest, to the last second
    clock.now_s += 1
    assert not budget.fits(DIRECT)
    assert budget.fits(OVS)  # never measured: 30 s, as all do on average
    clock.now_s += 10
    assert not budget.fits(OVS)


def test_the_first_case_is_begun_however_small_the_budget_and_nothing_ends_without_one() -> None:
    assert Budget(0.001).fits(DIRECT)
    clock = Clock()
    endless = Budget(None, clock)
    endless.took(DIRECT, [1e9])
    clock.now_s += 1e9
    assert endless.fits(DIRECT)
    assert endless.left_s is None
