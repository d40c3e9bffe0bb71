# SPDX-License-Identifier: Apache-2.0
"""Which loads, and how many hosts of each: the set cover over loads, as LP with its duals and as integers."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from weir.planning.fleet.instance import Fleet, Floats, Ints
from weir.planning.fleet.kinds import Kinds
from weir.planning.fleet.pricing import Load
from weir.planning.fleet.stop import Stop, empty_model


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
