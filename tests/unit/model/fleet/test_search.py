# SPDX-License-Identifier: Apache-2.0
"""Placements keep every limit, and what is said to be proved is true: against every way, on small fleets."""

from __future__ import annotations

import random
import time

import pytest

from tests.unit.model.fleet.referee import Place, best, broken, cost_of
from weir.model.fleet import Answer, ChainClass, Fleet, HostClass, Room, Rule, Search, Standing, Stop

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


def places(room: Room) -> list[Place]:
    """Chain by chain."""
    found: list[Place] = []
    seen: dict[int, int] = {}
    for host, kind in enumerate(room.class_of_host.tolist()):
        index = seen.get(kind, 0)
        seen[kind] = index + 1
        for node, row in enumerate(room.nodes(host)):
            for chain, count in room.standing[row].items():
                found += [(kind, index, node, chain)] * count
    return found


@pytest.mark.parametrize("block", range(8))
def test_bounds_are_true_and_placements_keep_every_limit(block: int) -> None:
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
