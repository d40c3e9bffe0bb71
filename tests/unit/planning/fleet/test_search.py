# SPDX-License-Identifier: Apache-2.0
"""Placements keep every limit, and what is said to be proved is true: against every way, on small fleets."""

from __future__ import annotations

import random
import time
from collections import Counter

import numpy as np
import pytest

from tests.unit.planning.fleet.referee import best, broken, cost_of, places
from weir.planning.fleet.instance import ChainClass, Fleet, HostClass, Rule
from weir.planning.fleet.local_search import balance, fill
from weir.planning.fleet.room import Room
from weir.planning.fleet.search import SHARES, Answer, Search, Standing
from weir.planning.fleet.stop import Stop

LIMIT_S = 20.0
Amounts = tuple[int, int, int, int]


def small(seed: int) -> Fleet:
    """A fleet of few hosts and chains in which now this, now that limit binds."""
    draw = random.Random(seed)
    hosts = tuple(
        HostClass(
            name=f"h{kind}",
            count=draw.randint(1, 2),
            nodes=tuple(
                (draw.randint(4, 9), draw.randint(6, 16), draw.choice((4, 100)), draw.choice((10, 100)))
                for _ in range(draw.randint(1, 2))
            ),
            cost=draw.choice((1.0, 1.5, 2.0)),
            link_mbps=draw.choice((12, 25, 1000)),
            zone=kind % 2,
        )
        for kind in range(draw.randint(1, 2))
    )

    def need(cores: int) -> Amounts:
        return cores, draw.randint(0, 6), draw.randint(0, 2), draw.randint(0, 7)

    chains = []
    for index in range(draw.randint(1, 3)):
        base = need(draw.randint(1, 5))
        needs = [(base[0] + draw.randint(0, 1), *base[1:]) if draw.random() > 0.1 else None for _ in hosts]
        chains.append(ChainClass(f"c{index}", draw.randint(1, 3), tuple(needs)))
    rules = tuple(
        Rule(
            f"r{index}",
            frozenset(draw.sample(range(len(chains)), draw.randint(1, len(chains)))),
            per_host=draw.choice((None, 1, 2)),
            per_zone=draw.choice((None, 1, 3)),
        )
        for index in range(draw.randint(0, 2))
    )
    return Fleet(hosts, tuple(chains), rules)


def search(
    fleet: Fleet, *, gap: float = 0.0, rounds: int = 200, seed: int = 1
) -> tuple[Answer, list[Standing]]:
    told: list[Standing] = []
    stop = Stop(LIMIT_S, time.monotonic)
    return Search(fleet, stop, gap=gap, seed=seed, tell=told.append).run(rounds), told


@pytest.fixture
def classes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fleet is small enough to be solved host by host."""
    monkeypatch.setattr("weir.planning.fleet.search.SMALL_COLUMNS", 0)


@pytest.mark.parametrize("block", range(5))
def test_bounds_are_true_and_placements_keep_every_limit(block: int, request: pytest.FixtureRequest) -> None:
    if block % 2:
        request.getfixturevalue("classes_alone")
    closed = 0
    for seed in range(block * 10, block * 10 + 10):
        fleet = small(seed)
        missing, cost = best(fleet)
        answer, told = search(fleet)
        standing = answer.standing
        found = places(answer.room)
        assert broken(fleet, found) == [], seed
        assert standing.unplaced == fleet.chain_count - len(found), seed
        assert standing.cost == pytest.approx(cost_of(fleet, found)), seed
        for one in told:
            assert one.unplaced_bound <= missing <= one.unplaced, seed
            if one.unplaced == missing:
                assert one.cost_bound <= cost + 1e-9, seed
        closed += (standing.unplaced, round(standing.cost, 9)) == (missing, cost)
    assert closed >= 9


@pytest.mark.usefixtures("classes_alone")
def test_large_chains_need_column_generation_to_be_proved() -> None:
    # Two of 5 cores do not fit a node of 9: liquid chains would take 12 · 5 / 18 hosts, which is 4 and not 6.
    host = HostClass("h", 20, ((9, 1000, 0, 1000),) * 2)
    answer, told = search(Fleet((host,), (ChainClass("c", 12, ((5, 10, 0, 10),)),)))
    assert [one.cost_bound for one in told if one.step == "bound"][-1] == 4
    assert (answer.standing.cost, answer.standing.cost_bound, answer.ended) == (6, 6, "gap")


def many(count: int, hosts: int) -> Fleet:
    """Chains of twelve classes on hosts of two, of which one costs less for what it has."""
    draw = random.Random(7)
    nodes = (30, 96_000, 32_000, 100_000)
    classes = (HostClass("a", hosts, (nodes,), 1.0), HostClass("b", hosts, (nodes,) * 2, 1.8, 150_000, 1))
    chains = []
    for index in range(12):
        need = (draw.randint(1, 9), draw.randint(500, 9000), draw.choice((0, 2000)), draw.randint(100, 9000))
        chains.append(ChainClass(f"c{index}", count // 12, (need, need)))
    return Fleet(classes, tuple(chains), (Rule("apart", frozenset({0, 1}), per_host=2),))


def test_a_larger_fleet_gets_a_small_gap_and_full_hosts_share_their_load() -> None:
    fleet = many(240, 40)
    answer, _ = search(fleet, gap=0.05, rounds=100)
    assert broken(fleet, places(answer.room)) == []
    assert answer.standing.unplaced == 0
    assert answer.standing.gap <= 0.05


def test_the_same_seed_gives_the_same_placement() -> None:
    first, second = (search(many(120, 20), rounds=20, gap=0.08)[0].room for _ in range(2))
    assert places(first) == places(second)


def test_whoever_asks_it_to_stop_gets_the_best_so_far() -> None:
    stop = Stop(LIMIT_S, time.monotonic)
    told: list[Standing] = []

    def tell(standing: Standing) -> None:
        told.append(standing)
        if len(told) == 3:
            stop.ask()

    fleet = many(240, 40)
    answer = Search(fleet, stop, gap=0.0, seed=1, tell=tell).run()
    assert answer.ended == "interrupted"
    assert answer.standing.cost == min(one.cost for one in told)
    assert broken(fleet, places(answer.room)) == []


def test_a_fleet_of_some_hosts_is_proved_host_by_host() -> None:
    fleet = many(240, 40)
    answer, told = search(fleet, rounds=100)
    assert (answer.ended, answer.standing.gap, answer.standing.unplaced) == ("gap", 0.0, 0)
    assert "plain" in {one.step for one in told}
    assert broken(fleet, places(answer.room)) == []


@pytest.mark.usefixtures("classes_alone")
def test_time_is_kept() -> None:
    now = iter(x / 10 for x in range(10**6))
    answer = Search(many(240, 40), Stop(5, lambda: next(now)), gap=0.0, seed=1, tell=lambda _: None).run()
    assert answer.ended == "time"
    assert answer.standing.unplaced == 0


@pytest.mark.parametrize("seed", [384, 1827])
def test_a_chain_that_fits_once_loads_are_balanced_has_its_place(seed: int) -> None:
    fleet = small(seed)
    now_s = iter([0.0])  # then time is up, but for balance
    stop = Stop(LIMIT_S, lambda: next(now_s, SHARES["end"] * LIMIT_S))
    answer = Search(fleet, stop, gap=0.0, seed=1, tell=lambda _: None).run()
    found = places(answer.room)
    assert broken(fleet, found) == []
    assert answer.standing.unplaced == fleet.chain_count - len(found)
    assert not any(answer.room.fits(chain).any() for chain in answer.room.unplaced())


def test_balance_makes_the_fullest_node_less_full_on_the_same_hosts() -> None:
    fleet = many(120, 20)
    room = Room(fleet)
    left = fill(room, Counter(dict.fromkeys(range(12), 10)), range(12), np.array([1.0, 0.9]))
    assert not left
    before, hosts = np.sort(room.node_loads())[::-1], list(room.used())
    balance(room, Stop(LIMIT_S, time.monotonic))
    after = np.sort(room.node_loads())[::-1]
    assert list(room.used()) == hosts
    assert broken(fleet, places(room)) == []
    assert after[0] <= before[0]
    assert after.std() < before.std()
