# SPDX-License-Identifier: Apache-2.0
"""Placements made and mended chain by chain: best fit, ruin and recreate, and balance between hosts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from weir.planning.fleet.instance import Fleet, Floats
from weir.planning.fleet.room import Mask, Room
from weir.planning.fleet.stop import Stop

HOSTS_AT_ONCE = (1, 5)  # beside the weak one
CHEAPEST = 0.3  # share of rounds in which the cheapest host is opened, not the best for its cost
RANK_NOISE = 0.1  # of the rank of a class of hosts
NOISE = 0.3  # of a chain's size when it is placed anew
STEP = 1e-6
MOVES_A_NODE = 10


def sizes(fleet: Fleet) -> Floats:
    """[chain class]: how large, as shares of a mean node, scarce resources weighing more."""
    capacity = np.mean([node for host in fleet.hosts for node in host.nodes], axis=0)
    shares = fleet.needs.astype(float) / np.maximum(capacity, 1)
    allowed = fleet.allowed[:, :, None]
    count = np.maximum(allowed.sum(axis=1), 1)
    mean = np.where(allowed, shares, 0).sum(axis=1) / count
    return np.asarray((mean * fleet.scarcity).sum(axis=1))


def host_ranks(fleet: Fleet) -> Floats:
    """[host class]: cost for what it has, cheapest first."""
    total = np.sum([np.sum(host.nodes, axis=0) * host.count for host in fleet.hosts], axis=0)
    worth = [
        (np.sum(host.nodes, axis=0) / np.maximum(total, 1) * fleet.scarcity).sum() for host in fleet.hosts
    ]
    return np.array(
        [host.cost / max(one, 1e-12) for host, one in zip(fleet.hosts, worth, strict=True)], dtype=float
    )


def fill(
    room: Room, waiting: Counter[int], order: Sequence[int], ranks: Floats, *, only: Mask | None = None
) -> Counter[int]:
    """Puts what waits, in that order of classes, where it leaves least room; what found no place.

    Hosts in use come first, then the others by the rank of their class. `only`: hosts that may be used.
    """
    left: Counter[int] = Counter()
    in_use = room.chains_on > 0 if only is None else only
    for chain in order:
        count = waiting[chain]
        while count > 0:
            mask = room.fits(chain)
            candidates = np.flatnonzero(mask & in_use[room.host_of])
            if len(candidates):
                node = int(candidates[np.argmin(room.slack(candidates))])
            elif only is None and mask.any():
                candidates = np.flatnonzero(mask)
                node = int(candidates[np.argmin(ranks[room.class_of[candidates]])])
                in_use[room.host_of[node]] = True
            else:
                left[chain] = count
                break
            some = min(count, room.fitting(chain, node))
            room.put(chain, node, some)
            count -= some
    return left


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


def balance(room: Room, stop: Stop) -> None:
    """Moves chains in place, one at a time, on the same hosts; ends where no single move helps."""
    full = room.node_loads()
    stuck = np.repeat(room.chains_on == 0, np.diff(room.first_node))
    for _ in range(MOVES_A_NODE * len(full)):
        if stuck.all() or stop.now():
            return
        node = int(np.argmax(np.where(stuck, -1, full)))
        target = _move(room, node, float(full[node]))
        if target is None:
            stuck[node] = True
            continue
        full = room.node_loads()
        stuck[target] = False


def _move(room: Room, node: int, load: float) -> int | None:
    """Moves the chain for which the fuller of both nodes gets least full; where to. None: no move helps."""
    best: tuple[float, int, int] | None = None
    host = int(room.host_of[node])
    for chain in sorted(room.standing[node]):
        if room.chains_on[host] == 1:
            return None  # its host would fall empty: then it is not in use
        room.put(chain, node, -1)
        rest = float(room.node_loads(slice(node, node + 1))[0])
        mask = room.fits(chain) & (room.chains_on > 0)[room.host_of]
        mask[node] = False
        targets = np.flatnonzero(mask)
        if len(targets):
            need = room.fleet.needs[chain][room.class_of[targets]]
            after = ((room.capacity - room.free)[targets] + need) / np.maximum(room.capacity[targets], 1)
            most = after.max(axis=1)
            index = int(np.argmin(most))
            reached = max(rest, float(most[index]))
            if reached < load - STEP and (best is None or reached < best[0]):
                best = reached, chain, int(targets[index])
        room.put(chain, node, 1)
    if best is None:
        return None
    room.put(best[1], node, -1)
    room.put(best[1], best[2], 1)
    return best[2]
