# SPDX-License-Identifier: Apache-2.0
"""The whole fleet as one model, two ways.

Liquid: chains flow, hosts of a class are one vessel; a first bound within milliseconds, whose duals are a
good place for column generation to start from. Plain: an integer for each class of chains and NUMA node, a
binary for each host; for fleets so small that HiGHS sees through their symmetry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import highspy
import numpy as np

from weir.planning.fleet.columns import Duals, Master
from weir.planning.fleet.instance import LINK, UNLIMITED, Fleet, Floats, Ints
from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop, empty_model


class _Rows:
    """A model built row by row."""

    def __init__(self, stop: Stop) -> None:
        self.model = empty_model(stop)

    def column(self, cost: float, most: float) -> int:
        self.model.addCol(cost, 0, most, 0, np.array([], dtype=np.int32), np.array([]))
        return int(self.model.getNumCol()) - 1

    def row(self, least: float, most: float, entries: dict[int, float]) -> int:
        indices = np.array(list(entries), dtype=np.int32)
        self.model.addRow(least, most, len(entries), indices, np.array(list(entries.values()), dtype=float))
        return int(self.model.getNumRow()) - 1


@dataclass(frozen=True)
class Liquid:
    """The liquid fleet's answer."""

    duals: Duals
    hosts: Floats
    """[host class]: how many it uses."""
    dearness: Floats
    """[host class]: what a host costs beyond what it is worth there, as a share of its cost."""
    bound: float
    """What no placement costs less than."""


def liquid(master: Master, stop: Stop) -> Liquid | None:
    """Solves the liquid fleet; None if there was no time."""
    fleet, kinds = master.fleet, master.kinds
    rows = _Rows(stop)
    infinity = highspy.kHighsInf
    hosts = [rows.column(host.cost, float(host.count)) for host in fleet.hosts]
    covered: list[dict[int, float]] = [
        {rows.column(master.penalty, float(count)): 1.0} for count in kinds.count
    ]
    carried: list[dict[int, int]] = [{} for _ in hosts]  # by host class: kind → column
    for kind, classes in enumerate(kinds.classes):
        for host in np.flatnonzero(fleet.allowed[classes[0]]).tolist():
            column = rows.column(0, infinity)
            carried[host][kind] = column
            covered[kind][column] = 1.0
    covers = [
        rows.row(float(count), infinity, entries) for count, entries in zip(kinds.count, covered, strict=True)
    ]
    zones = [_zone_row(rows, master, carried, rule, zone) for rule, zone in master.zone_rows]
    limits: list[list[tuple[int, Floats]]] = []
    for host, columns in enumerate(carried):
        limits.append([])
        for scale, needs in _limits(fleet, master, host):
            share = needs / scale
            inside = {column: float(share[kind]) for kind, column in columns.items() if share[kind]}
            if inside:
                limits[-1].append((rows.row(-infinity, 0, {**inside, hosts[host]: -1}), share))
    rows.model.setOptionValue("time_limit", stop.left_s())
    rows.model.run()
    if rows.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    dual = np.array(rows.model.getSolution().row_dual)
    duals = Duals(
        chain=np.clip(dual[covers], 0, master.penalty),
        host=np.zeros(len(hosts)),
        zone=np.maximum(-dual[zones], 0) if zones else np.zeros(0),
    )
    worths = [
        _most_worth(
            master.worth(duals, host),
            [(max(-dual[row], 0.0), share) for row, share in limits[host]],
            kinds.count,
            sorted(columns),
        )
        for host, columns in enumerate(carried)
    ]
    solution = rows.model.getSolution()
    costs = np.array([host.cost for host in fleet.hosts])
    dearness = np.array(solution.col_dual)[hosts] / costs
    used = np.array(solution.col_value)[hosts]
    return Liquid(duals, used, dearness, master.bound(duals, np.array(worths)))


def _zone_row(rows: _Rows, master: Master, carried: list[dict[int, int]], rule: int, zone: int) -> int:
    inside = {
        column: 1.0
        for host, columns in enumerate(carried)
        for kind, column in columns.items()
        if master.fleet.hosts[host].zone == zone and master.members[rule, kind]
    }
    return rows.row(-highspy.kHighsInf, float(master.fleet.rules[rule].per_zone or 0), inside)


def _most_worth(worth: Floats, prices: list[tuple[float, Floats]], count: Ints, kinds: list[int]) -> float:
    """What no load of a host is worth more than, whatever the LP's tolerances.

    A host has 1 of each priced share, so a load is worth at most Σ price, if each chain is worth no more than
    the price of what it takes; where one is worth more, by rounding, that much for each such chain is added.
    """
    paid = sum((price * share for price, share in prices), np.zeros(len(worth)))
    excess = np.maximum(worth - paid, 0)[kinds] @ count[kinds]
    return float(sum(price for price, _ in prices) + excess)


def _limits(fleet: Fleet, master: Master, host: int) -> list[tuple[float, Floats]]:
    """Of one host: what it has of something, and what each kind takes of that."""
    spec, needs = fleet.hosts[host], master.kinds.needs[:, host].astype(float)
    have = np.sum(spec.nodes, axis=0)
    limits = [
        (float(amount), needs[:, resource]) for resource, amount in enumerate(have) if 0 < amount < UNLIMITED
    ]
    if 0 < spec.link_mbps < UNLIMITED:
        limits.append((float(spec.link_mbps), needs[:, LINK]))
    for rule, one in enumerate(fleet.rules):
        if one.per_host:
            limits.append((float(one.per_host), master.members[rule].astype(float)))
    return limits


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
