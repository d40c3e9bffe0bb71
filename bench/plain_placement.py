# SPDX-License-Identifier: Apache-2.0
"""A fleet's placement as a plain integer model, host by host: what a solver is given that knows no more.

An integer for each class of chains and NUMA node, and a binary for each host.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from weir.model.fleet import Fleet
from weir.model.fleet.instance import LINK, UNLIMITED


@dataclass
class Plain:
    """The least cost of columns that keeps all rows."""

    columns: list[tuple[float, int]] = field(default_factory=list)
    """Cost, and the greatest value; the least is 0, and all are whole."""
    rows: list[tuple[float, float, dict[int, float]]] = field(default_factory=list)
    """Least and most of a sum, and its coefficients by column."""

    def add(self, cost: float, most: int) -> int:
        """Another column; its number."""
        self.columns.append((cost, most))
        return len(self.columns) - 1


def plain(fleet: Fleet) -> Plain:
    """All chains must have a place."""
    model = Plain()
    carried: list[dict[int, float]] = [{} for _ in fleet.chains]
    for kind, host in enumerate(fleet.hosts):
        for _ in range(host.count):
            in_use = model.add(host.cost, 1)
            on_host = [
                {
                    chain: model.add(0, fleet.chains[chain].count)
                    for chain in np.flatnonzero(fleet.allowed[:, kind]).tolist()
                }
                for _ in host.nodes
            ]
            for node, columns in zip(host.nodes, on_host, strict=True):
                for resource, have in enumerate(node):
                    inside = {c: float(fleet.needs[k, kind, resource]) / have for k, c in columns.items()}
                    model.rows.append((-math.inf, 0, {**inside, in_use: -1}))
                for chain, column in columns.items():
                    carried[chain][column] = 1
            if host.link_mbps < UNLIMITED:
                inside = {
                    c: float(fleet.needs[k, kind, LINK]) / host.link_mbps
                    for on in on_host
                    for k, c in on.items()
                }
                model.rows.append((-math.inf, 0, {**inside, in_use: -1}))
            for rule in fleet.rules:
                inside = {c: 1.0 for on in on_host for k, c in on.items() if k in rule.chains}
                model.rows.append((-math.inf, 0, {**inside, in_use: -float(rule.per_host or 0)}))
    model.rows += [
        (float(chain.count), float(chain.count), inside)
        for chain, inside in zip(fleet.chains, carried, strict=True)
    ]
    return model
