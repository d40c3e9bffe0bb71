# SPDX-License-Identifier: Apache-2.0
"""Loads: what one host could carry. Chains are gathered into a few kinds, so that models stay small for any
fleet; the best load of one host for given worths is a knapsack of several dimensions, solved by HiGHS.

A kind needs, of each resource, the least that any of its classes needs, and only classes that may stand on
the same hosts and are under the same rules are gathered. So every placement of the chains is one of the
kinds: a lower bound for the kinds is one for the chains. With as many kinds as classes nothing is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import highspy
import numpy as np

from weir.planning.fleet.instance import LINK, UNLIMITED, Fleet, Floats, Ints
from weir.planning.fleet.stop import Stop, empty_model

MOST_KINDS = 150


@dataclass(frozen=True)
class Kinds:
    """The model's chains."""

    classes: tuple[tuple[int, ...], ...]
    """Chain classes of each kind, largest first."""
    count: Ints
    """[kind]: chains."""
    needs: Ints
    """[kind, host class, resource]: the least of its classes."""
    kind_of: Ints
    """[chain class]; -1: fits no host at all."""


def gather(fleet: Fleet, most: int = MOST_KINDS) -> Kinds:
    """At most `most` kinds, or as many as there are rules and hosts to tell apart."""
    groups: dict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    for index in range(len(fleet.chains)):
        if fleet.allowed[index].any() and fleet.chains[index].count:
            key = fleet.allowed[index].tobytes(), fleet.rule_members[:, index].tobytes()
            groups[key].append(index)
    parts = list(groups.values())
    spreads = [_spread(fleet, part) for part in parts]
    while len(parts) < most and max((spread for spread, _ in spreads), default=0) > 0:
        widest = max(range(len(parts)), key=lambda index: spreads[index][0])
        part, column = parts.pop(widest), spreads.pop(widest)[1]
        for half in _halves(fleet, part, column):
            parts.append(half)
            spreads.append(_spread(fleet, half))
    parts.sort(key=min)
    kind_of = np.full(len(fleet.chains), -1, dtype=np.int64)
    for kind, part in enumerate(parts):
        kind_of[part] = kind
    sums = fleet.needs.sum(axis=(1, 2))
    return Kinds(
        classes=tuple(tuple(sorted(part, key=lambda index: (-sums[index], index))) for part in parts),
        count=np.array([sum(fleet.chains[index].count for index in part) for part in parts], dtype=np.int64),
        needs=np.array([fleet.needs[part].min(axis=0) for part in parts], dtype=np.int64).reshape(
            len(parts), len(fleet.hosts), 4
        ),
        kind_of=kind_of,
    )


def _flat(fleet: Fleet, part: list[int]) -> Ints:
    """[class, host class and resource]: what may matter."""
    return fleet.needs[part].reshape(len(part), -1)


def _spread(fleet: Fleet, part: list[int]) -> tuple[float, int]:
    """How much is lost by taking them for one kind, and in which column of their needs."""
    flat = _flat(fleet, part)
    scale = np.tile(np.max([node for host in fleet.hosts for node in host.nodes], axis=0), len(fleet.hosts))
    counts = np.array([fleet.chains[index].count for index in part])
    lost = ((flat - flat.min(axis=0)) * counts[:, None]).sum(axis=0) / np.maximum(scale, 1)
    column = int(np.argmax(lost))
    return float(lost[column]), column


def _halves(fleet: Fleet, part: list[int], column: int) -> tuple[list[int], list[int]]:
    """Cut where it saves most in that column."""
    values = _flat(fleet, part)[:, column]
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    counts = np.array([fleet.chains[part[index]].count for index in order])
    after = np.cumsum(counts[::-1])[::-1]  # chains from here on
    saved = (ordered - ordered[0]) * after
    cut = int(np.argmax(saved))
    return [part[index] for index in order[:cut]], [part[index] for index in order[cut:]]


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
