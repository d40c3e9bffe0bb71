# SPDX-License-Identifier: Apache-2.0
"""The best load of one host for given worths of chains: a knapsack of several dimensions, solved by HiGHS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import highspy
import numpy as np

from weir.planning.fleet.instance import LINK, UNLIMITED, Fleet, Floats, Ints
from weir.planning.fleet.kinds import Kinds
from weir.planning.fleet.stop import Stop, empty_model

MARGIN = 1e-9


@dataclass(frozen=True)
class Load:
    """What one host of a class could carry."""

    host: int
    counts: Ints
    """[node, kind]."""

    @property
    def total(self) -> Ints:
        """[kind]."""
        return np.asarray(self.counts.sum(axis=0))


class Pricing:
    """One class of hosts: its model is made once, only the worths change."""

    def __init__(self, fleet: Fleet, kinds: Kinds, host: int, stop: Stop) -> None:
        self.host = host
        spec = fleet.hosts[host]
        self._first = [members[0] for members in kinds.classes]
        self._kinds = [kind for kind, first in enumerate(self._first) if fleet.allowed[first, host]]
        self._nodes = len(spec.nodes)
        self._count = len(kinds.count)
        needs = kinds.needs[:, host]
        columns = [(node, kind) for node in range(self._nodes) for kind in self._kinds]
        self._columns = columns
        self._model = empty_model(stop)
        self._model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for node, kind in columns:
            most = _most(needs[kind], spec.nodes[node], int(kinds.count[kind]))
            self._model.addVar(0, most)
        if columns:
            everything = np.arange(len(columns), dtype=np.int32)
            integer = np.full(len(columns), highspy.HighsVarType.kInteger)
            self._model.changeColsIntegrality(len(columns), everything, integer)
        for node, have in enumerate(spec.nodes):
            for resource, amount in enumerate(have):
                self._row(amount, {i: needs[k, resource] for i, (n, k) in enumerate(columns) if n == node})
        if spec.link_mbps < UNLIMITED:
            self._row(spec.link_mbps, {i: needs[k, LINK] for i, (_, k) in enumerate(columns)})
        for rule, limits in enumerate(fleet.rules):
            if limits.per_host is not None:
                members = fleet.rule_members[rule]
                inside = {i: 1 for i, (_, k) in enumerate(columns) if members[self._first[k]]}
                self._row(limits.per_host, inside)
        if self._nodes > 1:
            for kind in self._kinds:
                self._row(int(kinds.count[kind]), {i: 1 for i, (_, k) in enumerate(columns) if k == kind})

    def _row(self, most: float, entries: Mapping[int, float]) -> None:
        used = {index: float(value) for index, value in entries.items() if value}
        if not used or most >= UNLIMITED:
            return
        scale = max(float(most), 1.0)
        indices = np.array(list(used), dtype=np.int32)
        values = np.array([value / scale for value in used.values()])
        self._model.addRow(-highspy.kHighsInf, most / scale, len(used), indices, values)

    def best(self, worth: Floats, *, gap: float, limit_s: float) -> tuple[Load | None, float]:
        """The best load found, and a number that no load's worth exceeds."""
        columns = self._columns
        if not columns:
            return None, 0.0
        everything = np.arange(len(columns), dtype=np.int32)
        costs = np.array([max(worth[kind], 0.0) for _, kind in columns])
        self._model.changeColsCost(len(columns), everything, costs)
        self._model.setOptionValue("mip_rel_gap", gap)
        self._model.setOptionValue("time_limit", limit_s)
        self._model.clearSolver()
        self._model.run()
        info = self._model.getInfo()
        bound = float(info.mip_dual_bound)
        bound = bound + MARGIN * (1 + abs(bound)) if np.isfinite(bound) else float("inf")
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None, bound
        counts = np.zeros((self._nodes, self._count), dtype=np.int64)
        for (node, kind), value in zip(columns, self._model.getSolution().col_value, strict=True):
            counts[node, kind] = round(value) if worth[kind] > 0 else 0
        return Load(self.host, counts), bound


def _most(needs: Ints, have: tuple[int, ...], count: int) -> int:
    return min([count, *(int(h // n) for h, n in zip(have, needs, strict=True) if n > 0)])
