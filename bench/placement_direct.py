# SPDX-License-Identifier: Apache-2.0
"""placement-direct: Weir's search against HiGHS on the plain integer model, host by host, in the same time.

The plain model has an integer for each class of chains and NUMA node, and a binary for each host: 500 chains
in 30 classes on 50 hosts. `ratio` is the gap that HiGHS proves to the one that Weir does.
"""

from __future__ import annotations

import highspy
import numpy as np

from bench import placement
from bench.pairs import Line
from weir.model.fleet import Fleet, fleet_of
from weir.model.fleet.instance import LINK, UNLIMITED

CHAINS, HOSTS, CLASSES = 500, 50, 30
LIMIT_S = 30.0


def run() -> Line:
    """Ratio of the gaps."""
    ours = placement.placed(CHAINS, HOSTS, CLASSES, LIMIT_S)[0].standing
    peer_cost, peer_bound = plain(fleet_of(placement.drawn(CHAINS, HOSTS, CLASSES)), LIMIT_S)
    peer_gap = (peer_cost - peer_bound) / peer_cost
    ratio = peer_gap / max(ours.gap, 1e-4)
    return Line(
        name="placement-direct",
        ratio=ratio,
        min=ratio,
        max=ratio,
        n=1,
        target=1.0,
        detail={
            "ours_cost": ours.cost,
            "ours_bound": ours.cost_bound,
            "ours_gap": round(ours.gap, 5),
            "peer_cost": peer_cost,
            "peer_bound": peer_bound,
            "peer_gap": round(peer_gap, 5),
        },
    )


def plain(fleet: Fleet, limit_s: float) -> tuple[float, float]:
    """(cost, proved bound) of the plain model; all chains must have a place."""
    model: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", limit_s)
    rows: list[tuple[float, float, dict[int, float]]] = []
    carried: list[dict[int, float]] = [{} for _ in fleet.chains]
    for kind, host in enumerate(fleet.hosts):
        for _ in range(host.count):
            in_use = _column(model, host.cost, 1)
            on_host = [
                {
                    chain: _column(model, 0, fleet.chains[chain].count)
                    for chain in np.flatnonzero(fleet.allowed[:, kind]).tolist()
                }
                for _ in host.nodes
            ]
            for node, columns in zip(host.nodes, on_host, strict=True):
                for resource, have in enumerate(node):
                    inside = {c: float(fleet.needs[k, kind, resource]) / have for k, c in columns.items()}
                    rows.append((-highspy.kHighsInf, 0, {**inside, in_use: -1}))
                for chain, column in columns.items():
                    carried[chain][column] = 1
            if host.link_mbps < UNLIMITED:
                inside = {
                    c: float(fleet.needs[k, kind, LINK]) / host.link_mbps
                    for on in on_host
                    for k, c in on.items()
                }
                rows.append((-highspy.kHighsInf, 0, {**inside, in_use: -1}))
            for rule in fleet.rules:
                inside = {c: 1.0 for on in on_host for k, c in on.items() if k in rule.chains}
                rows.append((-highspy.kHighsInf, 0, {**inside, in_use: -float(rule.per_host or 0)}))
    rows += [
        (float(chain.count), float(chain.count), inside)
        for chain, inside in zip(fleet.chains, carried, strict=True)
    ]
    for least, most, entries in rows:
        indices = np.array(list(entries), dtype=np.int32)
        model.addRow(least, most, len(entries), indices, np.array(list(entries.values()), dtype=float))
    model.run()
    info = model.getInfo()
    return float(info.objective_function_value), float(info.mip_dual_bound)


def _column(model: highspy.Highs, cost: float, most: int) -> int:
    model.addVar(0, most)
    index = int(model.getNumCol()) - 1
    model.changeColCost(index, cost)
    model.changeColIntegrality(index, highspy.HighsVarType.kInteger)
    return index
