# SPDX-License-Identifier: Apache-2.0
"""The fleet as if chains were liquid and hosts of a class one vessel: a first bound, within milliseconds.

Its duals are a good place for column generation to start from.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from weir.planning.fleet.instance import LINK, UNLIMITED, Fleet, Floats, Ints
from weir.planning.fleet.master import Duals, Master
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
