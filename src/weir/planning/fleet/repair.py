# SPDX-License-Identifier: Apache-2.0
"""Ruin and recreate: empties a few hosts, places their chains anew, and keeps what is not worse."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np

from weir.planning.fleet.greedy import fill, sizes
from weir.planning.fleet.instance import Floats
from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop

HOSTS_AT_ONCE = (1, 5)  # beside the weak one
CHEAPEST = 0.3  # share of rounds in which the cheapest host is opened, not the best for its cost
RANK_NOISE = 0.1  # of the rank of a class of hosts
NOISE = 0.3  # of a chain's size when it is placed anew


class Repair:
    """Improves one placement step by step."""

    def __init__(self, room: Room, missing: Counter[int], ranks: Floats, draw: random.Random) -> None:
        self.room, self.missing, self._draw = room, missing, draw
        fleet = room.fleet
        self._size = sizes(fleet)
        self._ranks = ranks
        self._costs: Floats = np.array([host.cost for host in fleet.hosts], dtype=float)
        self._value = self._rating(missing)

    def run(
        self,
        rounds: int,
        stop: Stop,
        *,
        share: float,
        good_enough: Callable[[], bool],
        tell: Callable[[], None],
    ) -> None:
        """That many rounds, or until time is up or it is good enough. `tell`: after each real gain."""
        for _ in range(rounds):
            if stop.now(share) or good_enough():
                return
            if self._round():
                tell()

    def _round(self) -> bool:
        """Whether fewer chains have no place now, or the hosts cost less."""
        room, draw = self.room, self._draw
        used = np.flatnonzero(room.chains_on)
        if not len(used):
            return False
        room.journal = []
        waiting = Counter(self.missing)
        for host in self._chosen(used):
            waiting.update(room.clear(host))
        noisy = {
            chain: float(self._size[chain]) * draw.uniform(1 - NOISE, 1 + NOISE) for chain in sorted(waiting)
        }
        order = sorted(waiting, key=lambda chain: -noisy[chain])
        base = self._costs if draw.random() < CHEAPEST else self._ranks
        ranks = base * np.array([draw.uniform(1 - RANK_NOISE, 1 + RANK_NOISE) for _ in base])
        left = fill(room, waiting, order, ranks)
        value = self._rating(left)
        if value > self._value:
            room.undo()
            return False
        room.journal = None
        better = value[:2] < self._value[:2]
        self.missing, self._value = left, value
        return better

    def _chosen(self, used: np.ndarray) -> list[int]:
        """A weakly loaded host, and some others."""
        draw, room = self._draw, self.room
        sample = draw.choices(used.tolist(), k=4)
        weak = min(sample, key=lambda host: (room.load(host) / self._costs[room.class_of_host[host]], host))
        others = draw.choices(used.tolist(), k=draw.randint(*HOSTS_AT_ONCE))
        return sorted({weak, *others})

    def _rating(self, missing: Counter[int]) -> tuple[int, float, float]:
        """Chains without a place, cost, and what favours full hosts beside empty ones. Less is better."""
        room = self.room
        loads = room.loads()
        return sum(missing.values()), round(room.cost(), 9), -float((loads**2).sum())
