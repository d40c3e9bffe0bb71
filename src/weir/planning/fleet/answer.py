# SPDX-License-Identifier: Apache-2.0
"""The search's answer as a document: chains by number, uses of hosts, and why some have no place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from weir.lab.fleet import FleetFile
from weir.planning.fleet.instance import (
    CORES,
    HUGEPAGES,
    LINK,
    MEMORY,
    PER_GIGA,
    RESOURCES,
    UNLIMITED,
    Fleet,
    Ints,
)
from weir.planning.fleet.room import Room
from weir.planning.fleet.search import Answer
from weir.results.fleet_placement import HostClassUse, PlacedHost, PlacedNode, Placement, Unplaced, Use, Uses


def placement_of(file: FleetFile, answer: Answer, seed: int) -> Placement:
    """What `weir fleet plan` writes. Chains get their numbers in the order of hosts."""
    room, standing = answer.room, answer.standing
    used = list(room.used())
    in_use = (room.chains_on > 0)[room.host_of]
    left = room.unplaced()
    loads = room.node_loads()
    return Placement(
        fleet=file.name,
        chains=room.fleet.chain_count,
        placed=room.fleet.chain_count - standing.unplaced,
        placed_bound=room.fleet.chain_count - standing.unplaced_bound,
        hosts_used=standing.hosts,
        cost=round(standing.cost, 9),
        cost_bound=round(standing.cost_bound, 9),
        gap=round(standing.gap, 9),
        ended=answer.ended,
        seconds=round(standing.passed_s, 3),
        seed=seed,
        uses=_uses(room, np.flatnonzero(in_use), room.chains_on > 0),
        fullest_node=round(float(loads.max()), 6) if len(loads) else 0.0,
        classes=_classes(file, room),
        unplaced=tuple(_unplaced(room, chain, left[chain]) for chain in sorted(left)),
        hosts=_hosts(room, used),
    )


def _classes(file: FleetFile, room: Room) -> tuple[HostClassUse, ...]:
    used = Counter(int(room.class_of_host[host]) for host in room.used())
    return tuple(
        HostClassUse(
            host=name,
            zone=host.zone,
            used=used[index],
            count=host.count,
            cost=round(used[index] * host.cost, 9),
        )
        for index, (name, host) in enumerate(file.hosts.items())
    )


def _unplaced(room: Room, chain: int, count: int) -> Unplaced:
    kind, why = room.fleet.chains[chain], reason(room, chain)
    return Unplaced(chain=kind.name, count=count, of=kind.count, binds=why.binds, reason=why.sentence)


def _hosts(room: Room, used: list[int]) -> tuple[PlacedHost, ...]:
    numbered: Counter[int] = Counter()
    starts = {kind: int(np.argmax(room.class_of_host == kind)) for kind in range(len(room.fleet.hosts))}
    found = []
    for host in used:
        kind = int(room.class_of_host[host])
        nodes = []
        for node in room.nodes(host):
            chains = {}
            for chain, count in sorted(room.standing[node].items()):
                first = numbered[chain] + 1
                numbered[chain] += count
                chains[room.fleet.chains[chain].name] = tuple(range(first, first + count))
            nodes.append(PlacedNode(uses=_uses(room, np.array([node]), None), chains=chains))
        found.append(
            PlacedHost(host=room.fleet.hosts[kind].name, number=host - starts[kind] + 1, nodes=tuple(nodes))
        )
    return tuple(found)


def _uses(room: Room, nodes: Ints, hosts: np.ndarray[tuple[int], np.dtype[np.bool_]] | None) -> Uses:
    """Of these nodes; `hosts`: whose own link limits count too."""
    have = room.capacity[nodes].sum(axis=0)
    used = have - room.free[nodes].sum(axis=0)
    link = int(np.minimum(room.capacity[nodes, LINK], UNLIMITED).sum())
    if hosts is not None:
        link = int(sum(_host_link(room, int(host)) for host in np.flatnonzero(hosts)))
    limited = link < UNLIMITED
    return Uses(
        cores=Use(used=int(used[CORES]), available=int(have[CORES])),
        memory_gb=_giga(int(used[MEMORY]), int(have[MEMORY])),
        hugepages_gb=_giga(int(used[HUGEPAGES]), int(have[HUGEPAGES])),
        link_gbps=Use(
            used=int(used[LINK]) / PER_GIGA, available=link / PER_GIGA if limited else 0, limited=limited
        ),
    )


def _host_link(room: Room, host: int) -> int:
    nodes = room.nodes(host)
    own = room.fleet.hosts[int(room.class_of_host[host])].link_mbps
    return min(own, int(room.capacity[nodes.start : nodes.stop, LINK].sum()))


def _giga(used: int, have: int) -> Use:
    return Use(used=used / PER_GIGA, available=have / PER_GIGA)


_WORDS = ("", "GB of memory", "GB of hugepages", "Gbit/s of link")


@dataclass(frozen=True)
class Reason:
    """What is short, in a word and in a sentence."""

    binds: str
    sentence: str


def reason(room: Room, chain: int) -> Reason:
    """Why no more chains of that class have a place in `room`."""
    fleet = room.fleet
    needs = fleet.chains[chain].needs
    candidates = [host for host, need in enumerate(needs) if need is not None and fleet.hosts[host].count]
    if not candidates:
        return Reason("hosts", "hosts: there are no hosts of a class and zone that it may stand on")
    if not fleet.allowed[chain].any():
        return _too_large(fleet, chain, candidates)
    nodes = np.flatnonzero(fleet.allowed[chain][room.class_of])
    need = fleet.needs[chain][room.class_of[nodes]]
    short = room.free[nodes] < need
    blocked: Counter[str] = Counter({name: int(short[:, i].sum()) for i, name in enumerate(RESOURCES)})
    blocked["host link"] = int((room.link_free[room.host_of[nodes]] < need[:, LINK]).sum())
    blocked["anti-affinity"] = int(_separated(room, chain)[nodes].sum())
    binds = max(blocked, key=lambda name: blocked[name])
    said = f"{binds}: on {blocked[binds]} of the {len(nodes)} NUMA nodes that are large enough when empty"
    if binds in RESOURCES:
        index = RESOURCES.index(binds)
        free = room.free[nodes, index]
        most_free = int(free[short[:, index]].max())
        said += (
            f" it needs {amount(int(need[:, index].min()), index)} or more, and at most "
            f"{amount(most_free, index)} of one are free"
        )
    elif binds == "anti-affinity":
        said += f" others are in the way: {', '.join(_rules(fleet, chain))}"
    others = [f"{name} on {count}" for name, count in blocked.most_common() if count and name != binds]
    if others:
        said += f"; also {', '.join(others)}"
    return Reason(binds, said)


def amount(value: int, resource: int) -> str:
    """A whole number of the solver's as people read it."""
    if resource == CORES:
        return "1 core" if value == 1 else f"{value} cores"
    return f"{value / 1000:g} {_WORDS[resource]}"


def _too_large(fleet: Fleet, chain: int, candidates: list[int]) -> Reason:
    """It fits not even an empty host: by the resource of which the best class lacks most."""
    lacks: list[tuple[float, int, int, int]] = []
    for host in candidates:
        need = fleet.chains[chain].needs[host]
        assert need is not None
        worst = [
            max(
                (
                    (n / max(have, 1), index, n, have)
                    for index, (n, have) in enumerate(zip(need, node, strict=True))
                )
            )
            for node in fleet.hosts[host].nodes
        ]
        link = fleet.hosts[host].link_mbps
        lacks.append(max(min(worst), (need[LINK] / max(link, 1), LINK, need[LINK], min(link, UNLIMITED))))
    _, resource, need_amount, have = min(lacks)
    needed, had = amount(need_amount, resource), amount(have, resource)
    said = f"{RESOURCES[resource]}: it needs {needed}, and an empty NUMA node has {had} at most"
    return Reason(RESOURCES[resource], said)


def _separated(room: Room, chain: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """[node]: whether a rule keeps the chain away."""
    away = np.zeros(len(room.host_of), dtype=bool)
    for rule, limits in enumerate(room.fleet.rules):
        if chain not in limits.chains:
            continue
        if limits.per_host is not None:
            away |= (room.on_host[rule] >= limits.per_host)[room.host_of]
        if limits.per_zone is not None:
            away |= (room.in_zone[rule] >= limits.per_zone)[room.zone_of_host[room.host_of]]
    return away


def _rules(fleet: Fleet, chain: int) -> list[str]:
    said = []
    for limits in fleet.rules:
        if chain in limits.chains:
            said += (
                [f"{limits.name} allows {limits.per_host} on a host"] if limits.per_host is not None else []
            )
            said += (
                [f"{limits.name} allows {limits.per_zone} in a zone"] if limits.per_zone is not None else []
            )
    return said
