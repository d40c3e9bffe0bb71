# SPDX-License-Identifier: Apache-2.0
"""Column generation: loads that the cover over loads still misses, and with them its proved lower bound.

Gilmore and Gomory's way for bin packing: the LP over loads is far tighter than one over single assignments,
has no symmetry between hosts, and is no larger for a thousand hosts than for one. Every round of exact
pricing proves a bound (Lagrange's); duals between the best and the latest ones keep rounds few.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from weir.planning.fleet.kinds import Kinds
from weir.planning.fleet.master import Duals, Master
from weir.planning.fleet.pricing import Load, Pricing
from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop
from weir.planning.fleet.volume import Liquid

SMOOTHING = 0.7  # share of the best duals in those that are priced
PRICING_GAP = 1e-3
PRICING_GAP_MAX = 0.05
SEEDS = 12
NOISE = 0.2
SEED_GAP = 0.03
ENOUGH = 1e-4  # of the LP's value: no bound gets much better


def loads_of(room: Room, kinds: Kinds) -> list[tuple[Load, int]]:
    """The loads of a placement, with the number of its hosts that have each."""
    found: dict[tuple[int, bytes], tuple[Load, int]] = {}
    for host in room.used():
        nodes = room.nodes(host)
        counts = np.zeros((len(nodes), len(kinds.count)), dtype=np.int64)
        for row, node in enumerate(nodes):
            for chain, count in room.standing[node].items():
                counts[row, kinds.kind_of[chain]] += count
        load = Load(int(room.class_of_host[host]), counts)
        key = load.host, load.total.tobytes()
        found[key] = load, found.get(key, (load, 0))[1] + 1
    return list(found.values())


class Columns:
    """Column generation on one master."""

    def __init__(self, master: Master, stop: Stop, share: float, draw: random.Random) -> None:
        self.master, self.bound = master, 0.0
        self._stop, self._share = stop, share
        self._pricings = [
            Pricing(master.fleet, master.kinds, host, stop) for host in range(len(master.fleet.hosts))
        ]
        self._best: Duals | None = None
        self._draw = draw

    def seed(self, start: Liquid) -> None:
        """Loads that are good by duals near those of the liquid fleet: the LP is near its end at once."""
        self._best, self.bound = start.duals, start.bound
        for _ in range(SEEDS):
            for pricing in self._pricings:
                if self._stop.now(self._share):
                    return
                worth = self.master.worth(start.duals, pricing.host)
                noisy = worth * np.array([self._draw.uniform(1 - NOISE, 1 + NOISE) for _ in worth])
                load, _ = pricing.best(noisy, gap=SEED_GAP, limit_s=self._left_s())
                if load is not None:
                    self.master.add(load)

    def run(self, good_enough: Callable[[float], bool], tell: Callable[[float], None]) -> None:
        """Adds loads until `bound` is good enough or cannot grow. `tell`: after each better bound."""
        while not self._stop.now(self._share):
            found = self.master.duals(self._left_s())
            if found is None:
                return
            duals, value = found
            gap = min(PRICING_GAP_MAX, max(PRICING_GAP, (value - self.bound) / max(value, 1e-9) / 10))
            for smoothing in (SMOOTHING, 0.0) if self._best is not None else (0.0,):
                priced = _between(self._best, duals, smoothing) if self._best is not None else duals
                added = self._price(priced, duals, gap)
                if added is None:
                    return
                if added:
                    break
            tell(self.bound)
            if not added or value - self.bound <= ENOUGH * abs(value) or good_enough(self.bound):
                return

    def _left_s(self) -> float:
        return self._stop.left_s(self._share)

    def _price(self, priced: Duals, duals: Duals, gap: float) -> int | None:
        """Prices every class of hosts; the number of loads that were added. None: no time."""
        master = self.master
        worths, added = [], 0
        for pricing in self._pricings:
            if self._stop.now(self._share):
                return None
            load, worth = pricing.best(master.worth(priced, pricing.host), gap=gap, limit_s=self._left_s())
            worths.append(worth)
            if load is not None and _attractive(master, duals, load):
                added += master.add(load)
        proved = master.bound(priced, np.array(worths))
        if proved > self.bound or self._best is None:
            self.bound, self._best = max(proved, self.bound), priced
        return added


def _attractive(master: Master, duals: Duals, load: Load) -> bool:
    """Whether the LP gains by it."""
    cost = master.fleet.hosts[load.host].cost + float(duals.host[load.host])
    return float(master.worth(duals, load.host) @ load.total) > cost * (1 + 1e-6)


def _between(best: Duals, latest: Duals, share: float) -> Duals:
    return Duals(
        chain=share * best.chain + (1 - share) * latest.chain,
        host=share * best.host + (1 - share) * latest.host,
        zone=share * best.zone + (1 - share) * latest.zone,
    )
