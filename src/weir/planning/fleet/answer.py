# SPDX-License-Identifier: Apache-2.0
"""The search's answer as a document: chains by number, uses of hosts, and reasons."""

from __future__ import annotations

from collections import Counter

import numpy as np

from weir.lab.fleet import FleetFile
from weir.lab.placement import HostClassUse, PlacedHost, PlacedNode, Placement, Unplaced, Use, Uses
from weir.planning.fleet.from_file import PER_GIGA
from weir.planning.fleet.instance import CORES, HUGEPAGES, LINK, MEMORY, UNLIMITED, Ints
from weir.planning.fleet.room import Room
from weir.planning.fleet.search import Answer
from weir.planning.fleet.unplaced import reason


def placement_of(file: FleetFile, answer: Answer, seed: int) -> Placement:
    """What `weir plan --fleet` writes. Chains get their numbers in the order of hosts."""
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
