# SPDX-License-Identifier: Apache-2.0
"""Which loads, and how many hosts of each: a set cover, as integers and as LP with column generation.

Column generation (Gilmore and Gomory, for bin packing) adds the loads that the LP still misses. The LP over
loads is far tighter than one over single assignments, has no symmetry between hosts, and is no larger for a
thousand hosts than for one. Every round of exact pricing proves a bound (Lagrange's); duals between the best
and the latest ones keep rounds few.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np

from weir.planning.fleet.instance import Fleet, Floats, Ints
from weir.planning.fleet.loads import Kinds, Load, Pricing
from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop, empty_model

SMOOTHING = 0.7  # share of the best duals in those that are priced
PRICING_GAP = 1e-3
PRICING_GAP_MAX = 0.05
SEEDS = 12
NOISE = 0.2
SEED_GAP = 0.03
ENOUGH = 1e-4  # of the LP's value: no bound gets much better


@dataclass(frozen=True)
class Duals:
    """What one more chain, one more host, one more place in a zone is worth; none below 0."""

    chain: Floats
    """[kind]."""
    host: Floats
    """[host class]."""
    zone: Floats
    """[zone row]."""


class Master:
    """min Σ cost · hosts + penalty · unplaced; every kind's chains are carried or unplaced."""

    def __init__(self, fleet: Fleet, kinds: Kinds, penalty: float, stop: Stop) -> None:
        self.fleet, self.kinds, self.penalty = fleet, kinds, penalty
        self.zone_rows = [
            (rule, zone)
            for rule, limits in enumerate(fleet.rules)
            if limits.per_zone is not None
            for zone in range(fleet.zones)
        ]
        members = [fleet.rule_members[:, classes[0]] for classes in kinds.classes]
        self.members = np.array(members, dtype=bool).reshape(len(kinds.count), len(fleet.rules)).T
        self.loads: list[Load] = []
        self._seen: set[tuple[int, bytes]] = set()
        self.model = self._empty(stop)

    def _empty(self, stop: Stop) -> highspy.Highs:
        model = empty_model(stop)
        none_i, none_f = np.array([], dtype=np.int32), np.array([], dtype=np.float64)
        for count in self.kinds.count:
            model.addRow(float(count), highspy.kHighsInf, 0, none_i, none_f)
        for host in self.fleet.hosts:
            model.addRow(-highspy.kHighsInf, float(host.count), 0, none_i, none_f)
        for rule, _ in self.zone_rows:
            model.addRow(-highspy.kHighsInf, float(self.fleet.rules[rule].per_zone or 0), 0, none_i, none_f)
        one = np.array([1.0])
        for kind, count in enumerate(self.kinds.count):
            model.addCol(self.penalty, 0, float(count), 1, np.array([kind], dtype=np.int32), one)
        return model

    def add(self, load: Load) -> bool:
        """Adds a load unless it is there."""
        total = load.total
        key = load.host, total.tobytes()
        if key in self._seen or not total.any():
            return False
        self._seen.add(key)
        self.loads.append(load)
        kinds = len(self.kinds.count)
        rows = {int(kind): float(total[kind]) for kind in np.flatnonzero(total)}
        rows[kinds + load.host] = 1.0
        for index, (rule, zone) in enumerate(self.zone_rows):
            inside = float(total[self.members[rule]].sum())
            if zone == self.fleet.hosts[load.host].zone and inside:
                rows[kinds + len(self.fleet.hosts) + index] = inside
        indices = np.array(list(rows), dtype=np.int32)
        cost = self.fleet.hosts[load.host].cost
        self.model.addCol(cost, 0, highspy.kHighsInf, len(rows), indices, np.array(list(rows.values())))
        return True

    def duals(self, limit_s: float) -> tuple[Duals, float] | None:
        """Solves the LP: its duals and its value. None if time ran out."""
        self.model.setOptionValue("time_limit", limit_s)
        self.model.run()
        if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        dual = np.array(self.model.getSolution().row_dual)
        kinds, hosts = len(self.kinds.count), len(self.fleet.hosts)
        found = Duals(
            chain=np.clip(dual[:kinds], 0, self.penalty),
            host=np.maximum(-dual[kinds : kinds + hosts], 0),
            zone=np.maximum(-dual[kinds + hosts :], 0),
        )
        return found, float(self.model.getInfo().objective_function_value)

    def worth(self, duals: Duals, host: int) -> Floats:
        """[kind]: of one chain on a host of that class."""
        worth = duals.chain.copy()
        for value, (rule, zone) in zip(duals.zone, self.zone_rows, strict=True):
            if zone == self.fleet.hosts[host].zone:
                worth[self.members[rule]] -= value
        return worth

    def bound(self, duals: Duals, best_worth: Floats) -> float:
        """What no placement costs less than, for any duals: Lagrange's relaxation of all rows.

        `best_worth`: for each class of hosts what no load's worth exceeds, by the same duals.
        """
        value = float(duals.chain @ self.kinds.count)
        for price, (rule, _) in zip(duals.zone, self.zone_rows, strict=True):
            value -= float(price) * (self.fleet.rules[rule].per_zone or 0)
        for host, worth in zip(self.fleet.hosts, best_worth, strict=True):
            value -= host.count * max(0.0, float(worth) - host.cost)
        return value

    def integers(self, start: Ints, limit_s: float, gap: float) -> Ints | None:
        """[load]: hosts with it, the best found in that time from `start`; None if nothing was found."""
        model = self.model
        columns = model.getNumCol()
        everything = np.arange(columns, dtype=np.int32)
        model.changeColsIntegrality(columns, everything, np.full(columns, highspy.HighsVarType.kInteger))
        first = highspy.HighsSolution()
        carried = np.zeros(len(self.kinds.count), dtype=np.int64)
        for load, count in zip(self.loads, start, strict=True):
            carried += load.total * count
        missing = np.maximum(self.kinds.count - carried, 0)
        first.col_value = [float(value) for value in (*missing, *start)]
        model.setSolution(first)
        model.setOptionValue("mip_rel_gap", gap)
        model.setOptionValue("time_limit", limit_s)
        model.run()
        feasible = model.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        values = np.array(model.getSolution().col_value)
        model.changeColsIntegrality(columns, everything, np.full(columns, highspy.HighsVarType.kContinuous))
        return np.rint(values[len(self.kinds.count) :]).astype(np.int64) if feasible else None


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

    def seed(self, start: Duals, bound: float) -> None:
        """Loads that are good by duals near these, which prove that bound: the LP is near its end at once."""
        self._best, self.bound = start, bound
        for _ in range(SEEDS):
            for pricing in self._pricings:
                if self._stop.now(self._share):
                    return
                worth = self.master.worth(start, pricing.host)
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
