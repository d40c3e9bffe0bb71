# SPDX-License-Identifier: Apache-2.0
"""Why a chain has no place: the limit that stands in the way on most of the nodes it may stand on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from weir.planning.fleet.instance import CORES, LINK, RESOURCES, UNLIMITED, Fleet
from weir.planning.fleet.room import Room

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
    wanted = [host for host, need in enumerate(needs) if need is not None and fleet.hosts[host].count]
    if not wanted:
        return Reason("hosts", "hosts: there are no hosts of a class and zone that it may stand on")
    if not fleet.allowed[chain].any():
        return _too_large(fleet, chain, wanted)
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


def _too_large(fleet: Fleet, chain: int, wanted: list[int]) -> Reason:
    """It fits not even an empty host: by the resource of which the best class lacks most."""
    lacks: list[tuple[float, int, int, int]] = []
    for host in wanted:
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
