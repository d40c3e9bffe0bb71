# SPDX-License-Identifier: Apache-2.0
"""A fleet's placement as a plain integer model, host by host: an integer for each class of chains and NUMA
node, a binary for each host. For fleets so small that HiGHS sees through their symmetry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import highspy
import numpy as np

from weir.planning.fleet.instance import LINK, UNLIMITED, Fleet
from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop, empty_model

SLIP = 1e-7
"""Of a bound, by which HiGHS's tolerances may have made it too high."""


@dataclass
class Plain:
    """The least cost of columns that keeps all rows."""

    columns: list[tuple[float, int]] = field(default_factory=list)
    """Cost, and the greatest value; the least is 0, and all are whole."""
    rows: list[tuple[float, float, dict[int, float]]] = field(default_factory=list)
    """Least and most of a sum, and its coefficients by column."""
    hosts: list[int] = field(default_factory=list)
    """Column by host."""
    places: list[dict[int, int]] = field(default_factory=list)
    """Column by chain class, for each NUMA node."""
    missing: dict[int, int] = field(default_factory=dict)
    """Column by chain class: how many have no place."""

    def load(self, highs: highspy.Highs) -> None:
        """Puts all of it into an empty model."""
        for index, (cost, greatest) in enumerate(self.columns):
            highs.addVar(0, greatest)
            highs.changeColCost(index, cost)
            highs.changeColIntegrality(index, highspy.HighsVarType.kInteger)
        for least, most, entries in self.rows:
            indices = np.array(list(entries), dtype=np.int32)
            highs.addRow(least, most, len(entries), indices, np.array(list(entries.values()), dtype=float))

    def add(self, cost: float, most: int) -> int:
        """Another column; its number."""
        self.columns.append((cost, most))
        return len(self.columns) - 1


@dataclass(frozen=True)
class Solved:
    """What HiGHS made of it in its time."""

    counts: Sequence[tuple[int, int, int]]
    """(node, chain class, chains) of the best placement found."""
    bound: float
    """What no placement costs less than."""


def column_count(fleet: Fleet) -> int:
    """How many columns the model has."""
    return sum(
        host.count * (1 + len(host.nodes) * int(fleet.allowed[:, kind].sum()))
        for kind, host in enumerate(fleet.hosts)
    )


def plain(fleet: Fleet, penalty: float | None = None) -> Plain:
    """The model; hosts and nodes are in the order of `Room`. `penalty`: of a chain without a place; None: all
    must have one."""
    model = Plain()
    in_zone: dict[tuple[int, int], dict[int, float]] = {}
    for kind, host in enumerate(fleet.hosts):
        for _ in range(host.count):
            _host(model, fleet, kind, in_zone)
    for (number, _), inside in in_zone.items():
        model.rows.append((-math.inf, float(fleet.rules[number].per_zone or 0), inside))
    for chain, one in enumerate(fleet.chains):
        carried = {places[chain]: 1.0 for places in model.places if chain in places}
        if penalty is not None and carried:
            model.missing[chain] = model.add(penalty, one.count)
            carried[model.missing[chain]] = 1.0
        if carried or penalty is None:
            model.rows.append((float(one.count), float(one.count), carried))
    return model


def _host(model: Plain, fleet: Fleet, kind: int, in_zone: dict[tuple[int, int], dict[int, float]]) -> None:
    """One host of that class. `in_zone`: columns by rule and zone, for limits of whole zones."""
    host = fleet.hosts[kind]
    in_use = model.add(host.cost, 1)
    allowed = np.flatnonzero(fleet.allowed[:, kind]).tolist()
    on_host = [{chain: model.add(0, fleet.chains[chain].count) for chain in allowed} for _ in host.nodes]
    model.hosts.append(in_use)
    model.places += on_host
    for node, columns in zip(host.nodes, on_host, strict=True):
        for resource, have in enumerate(node):
            if have < UNLIMITED:
                needs = {c: float(fleet.needs[k, kind, resource]) for k, c in columns.items()}
                _limit(model, needs, have, in_use)
    if host.link_mbps < UNLIMITED:
        needs = {c: float(fleet.needs[k, kind, LINK]) for on in on_host for k, c in on.items()}
        _limit(model, needs, host.link_mbps, in_use)
    for number, rule in enumerate(fleet.rules):
        inside = {c: 1.0 for on in on_host for k, c in on.items() if k in rule.chains}
        if rule.per_host is not None:
            _limit(model, inside, rule.per_host, in_use)
        if rule.per_zone is not None:
            in_zone.setdefault((number, host.zone), {}).update(inside)


def _limit(model: Plain, needs: dict[int, float], have: int, in_use: int) -> None:
    """No more than a host has; nothing on one that is not in use."""
    inside = {column: need / max(have, 1) for column, need in needs.items() if need}
    if inside:
        model.rows.append((-math.inf, 0, {**inside, in_use: -float(min(have, 1))}))


def solve(
    model: Plain, start: Room, stop: Stop, *, share: float, gap: float, tell: Callable[[float], None]
) -> Solved | None:
    """The best placement found from `start` on; None if there was no time. `tell`: bounds, now and then."""
    highs = empty_model(stop)
    model.load(highs)
    first = highspy.HighsSolution()
    first.col_value = _values(model, start)
    highs.setSolution(first)
    highs.setOptionValue("mip_rel_gap", gap)
    highs.setOptionValue("time_limit", stop.left_s(share))

    def looked(event: highspy.highs.HighsCallbackEvent) -> None:
        tell(_safe(float(event.data_out.mip_dual_bound)))

    highs.cbMipInterrupt.subscribe(looked)
    highs.run()
    info = highs.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    values = highs.getSolution().col_value
    counts = [
        (node, chain, round(values[column]))
        for node, places in enumerate(model.places)
        for chain, column in places.items()
        if round(values[column])
    ]
    return Solved(counts, _safe(float(info.mip_dual_bound)))


def _safe(bound: float) -> float:
    return bound - SLIP * (1 + abs(bound)) if math.isfinite(bound) else 0.0


def _values(model: Plain, room: Room) -> list[float]:
    """The columns of a placement."""
    values = [0.0] * len(model.columns)
    for host, column in enumerate(model.hosts):
        values[column] = float(room.chains_on[host] > 0)
    for node, places in enumerate(model.places):
        for chain, count in room.standing[node].items():
            values[places[chain]] = float(count)
    for chain, column in model.missing.items():
        placed = sum(values[places[chain]] for places in model.places if chain in places)
        values[column] = room.fleet.chains[chain].count - placed
    return values
