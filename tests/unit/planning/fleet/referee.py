# SPDX-License-Identifier: Apache-2.0
"""Checks a placement, and finds the best one of a small fleet, knowing nothing of how the solver works."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache

from weir.planning.fleet.instance import Fleet
from weir.planning.fleet.room import Room

Place = tuple[int, int, int, int]  # host class, host of that class, node, chain class


def places(room: Room) -> list[Place]:
    """Where each chain of a placement stands."""
    found: list[Place] = []
    seen: dict[int, int] = {}
    for host, kind in enumerate(room.class_of_host.tolist()):
        index = seen.get(kind, 0)
        seen[kind] = index + 1
        for node, row in enumerate(room.nodes(host)):
            for chain, count in room.standing[row].items():
                found += [(kind, index, node, chain)] * count
    return found


def broken(fleet: Fleet, places: list[Place]) -> list[str]:
    """Every limit that these places break."""
    found = []
    node_used: Counter[tuple[int, int, int, int]] = Counter()
    link_used: Counter[tuple[int, int]] = Counter()
    chains: Counter[int] = Counter()
    for kind, host, node, chain in places:
        need = fleet.chains[chain].needs[kind]
        if need is None or host >= fleet.hosts[kind].count:
            found.append(f"chain class {chain} may not stand on host {host} of class {kind}")
            continue
        for resource, amount in enumerate(need):
            node_used[kind, host, node, resource] += amount
        link_used[kind, host] += need[3]
        chains[chain] += 1
    for (kind, host, node, resource), used in node_used.items():
        if used > fleet.hosts[kind].nodes[node][resource]:
            found.append(f"resource {resource} of node {node} of host {host} of class {kind}: {used}")
    found += [
        f"link of host {host}"
        for (kind, host), used in link_used.items()
        if used > fleet.hosts[kind].link_mbps
    ]
    found += [f"too many of {chain}" for chain, n in chains.items() if n > fleet.chains[chain].count]
    for rule in fleet.rules:
        here = Counter((kind, host) for kind, host, _, chain in places if chain in rule.chains)
        zones = Counter(fleet.hosts[kind].zone for kind, _, _, chain in places if chain in rule.chains)
        if rule.per_host is not None and max(here.values(), default=0) > rule.per_host:
            found.append(f"{rule.name} on one host")
        if rule.per_zone is not None and max(zones.values(), default=0) > rule.per_zone:
            found.append(f"{rule.name} in one zone")
    return found


def cost_of(fleet: Fleet, places: list[Place]) -> float:
    """Of the hosts that they use."""
    return math.fsum(fleet.hosts[kind].cost for kind, _ in {(kind, host) for kind, host, _, _ in places})


def best(fleet: Fleet) -> tuple[int, float]:
    """(fewest chains without a place, least cost with so many), by trying every way."""
    hosts = [kind for kind, host in enumerate(fleet.hosts) for _ in range(host.count)]
    loads = [_loads(fleet, kind) for kind in hosts]

    @cache
    def search(index: int, waiting: tuple[int, ...], in_zones: tuple[int, ...]) -> tuple[int, float]:
        if index == len(hosts):
            return sum(waiting), 0.0
        found = (10**9, math.inf)
        for load in loads[index]:
            left = tuple(w - n for w, n in zip(waiting, load, strict=True))
            zones = _zones_after(fleet, hosts[index], load, in_zones)
            if min(left) >= 0 and zones is not None:
                missing, cost = search(index + 1, left, zones)
                own = fleet.hosts[hosts[index]].cost if any(load) else 0.0
                found = min(found, (missing, round(cost + own, 9)))
        return found

    return search(0, tuple(chain.count for chain in fleet.chains), (0,) * (len(fleet.rules) * fleet.zones))


def _loads(fleet: Fleet, kind: int) -> set[tuple[int, ...]]:
    """Everything that one host of that class can carry: chains by class."""
    nodes = range(len(fleet.hosts[kind].nodes))
    alone = Fleet(fleet.hosts, fleet.chains, tuple(rule for rule in fleet.rules if rule.per_host is not None))
    found = set()
    ways = [itertools.product(range(chain.count + 1), repeat=len(nodes)) for chain in fleet.chains]
    for counts in itertools.product(*ways):
        places = [
            (kind, 0, node, chain)
            for chain, by_node in enumerate(counts)
            for node, count in enumerate(by_node)
            for _ in range(count)
        ]
        own = [one for one in broken(alone, places) if not one.endswith("in one zone")]
        if not own:
            found.add(tuple(sum(by_node) for by_node in counts))
    return found


def _zones_after(
    fleet: Fleet, kind: int, load: tuple[int, ...], before: tuple[int, ...]
) -> tuple[int, ...] | None:
    after = list(before)
    for index, rule in enumerate(fleet.rules):
        place = index * fleet.zones + fleet.hosts[kind].zone
        after[place] += sum(load[chain] for chain in rule.chains)
        if rule.per_zone is not None and after[place] > rule.per_zone:
            return None
    return tuple(after)
