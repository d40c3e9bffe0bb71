# SPDX-License-Identifier: Apache-2.0
"""A fleet as the solver sees it: classes of hosts and of chains, whole numbers only.

Whole numbers make every check of a placement exact: cores; memory and hugepages in MB, link in Mbit/s.
`fleet_of` makes them of a fleet file, needs rounded up and capacities down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weir.lab.fleet import FleetChain, FleetFile, FleetHost
from weir.lab.frames import l1_bps

RESOURCES = ("cores", "memory", "hugepages", "link")
CORES, MEMORY, HUGEPAGES, LINK = range(4)
UNLIMITED = 10**12

Amounts = tuple[int, int, int, int]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HostClass:
    """Hosts that are all alike."""

    name: str
    count: int
    nodes: tuple[Amounts, ...]
    """What each NUMA node has, by resource."""
    cost: float = 1.0
    """Of one host in use, above 0."""
    link_mbps: int = UNLIMITED
    """Of the whole host, over its nodes."""
    zone: int = 0


@dataclass(frozen=True)
class ChainClass:
    """Chains that are all alike. Each stands on one NUMA node."""

    name: str
    count: int
    needs: tuple[Amounts | None, ...]
    """By class of host; None: may not stand there."""


@dataclass(frozen=True)
class Rule:
    """Anti-affinity: of these chains at most so many on one host, and in one zone. None: any number."""

    name: str
    chains: frozenset[int]
    per_host: int | None = None
    per_zone: int | None = None


@dataclass(frozen=True)
class Fleet:
    """What is to be placed, and where."""

    hosts: tuple[HostClass, ...]
    chains: tuple[ChainClass, ...]
    rules: tuple[Rule, ...] = field(default=())

    @cached_property
    def needs(self) -> Ints:
        """[chain class, host class, resource]; 0 where a chain may not stand, see `allowed`."""
        rows = [[need or (0, 0, 0, 0) for need in chain.needs] for chain in self.chains]
        return np.array(rows, dtype=np.int64).reshape(len(self.chains), len(self.hosts), len(RESOURCES))

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """[chain class, host class]: whether a chain may stand there, and fits an empty host."""
        allowed = np.zeros((len(self.chains), len(self.hosts)), dtype=bool)
        for index, chain in enumerate(self.chains):
            for host, need in enumerate(chain.needs):
                allowed[index, host] = need is not None and self._fits_empty(self.hosts[host], need)
        for rule in self.rules:
            if rule.per_host == 0 or rule.per_zone == 0:
                allowed[sorted(rule.chains)] = False
        return allowed

    @cached_property
    def rule_members(self) -> NDArray[np.bool_]:
        """[rule, chain class]."""
        members = np.zeros((len(self.rules), len(self.chains)), dtype=bool)
        for index, rule in enumerate(self.rules):
            members[index, sorted(rule.chains)] = True
        return members

    @cached_property
    def scarcity(self) -> Floats:
        """[resource]: all that is needed over all that there is."""
        needed, have = np.zeros(len(RESOURCES)), np.zeros(len(RESOURCES))
        for index, chain in enumerate(self.chains):
            if self.allowed[index].any():
                needed += chain.count * self.needs[index][self.allowed[index]].mean(axis=0)
        for host in self.hosts:
            have += host.count * np.sum(host.nodes, axis=0)
        return np.asarray(needed / np.maximum(have, 1) + 1e-9)

    @property
    def zones(self) -> int:
        """How many zones there are."""
        return max((host.zone for host in self.hosts), default=0) + 1

    @property
    def chain_count(self) -> int:
        """Of all classes."""
        return sum(chain.count for chain in self.chains)

    @property
    def host_count(self) -> int:
        """Of all classes."""
        return sum(host.count for host in self.hosts)

    @staticmethod
    def _fits_empty(host: HostClass, need: Amounts) -> bool:
        fits_node = any(all(n <= have for n, have in zip(need, node, strict=True)) for node in host.nodes)
        return fits_node and need[LINK] <= host.link_mbps


PER_GIGA = 1000
SLIP = 1e-9  # of a whole number, by which floating point may miss it


def fleet_of(file: FleetFile) -> Fleet:
    """What the solver is asked."""
    zones = sorted({host.zone for host in file.hosts.values()})
    hosts = tuple(_host(name, host, zones.index(host.zone)) for name, host in file.hosts.items())
    chains = tuple(
        ChainClass(
            name,
            chain.count,
            tuple(
                needs(chain, host) if _may_stand(chain, key, host) else None
                for key, host in file.hosts.items()
            ),
        )
        for name, chain in file.chains.items()
    )
    return Fleet(hosts, chains, tuple(_rules(file)))


def needs(chain: FleetChain, host: FleetHost) -> Amounts:
    """Of one chain on that class of hosts.

    Cores by rate = clock · CUR / cycles a packet ([Lean], equation 6): each area has cores of its own.
    """
    cores = chain.cores
    if cores is None:
        cycles_per_s = host.cpu_ghz * 1e9 * host.cur
        cores = sum(_up((chain.rate_pps or 0) * cycles / cycles_per_s) for cycles in chain.cycles_per_packet)
    gbps = chain.link_gbps or 0.0
    if chain.frame_bytes is not None:
        gbps = l1_bps(chain.rate_pps or 0, chain.frame_bytes) / 1e9
    return cores, _up(chain.memory_gb * PER_GIGA), _up(chain.hugepages_gb * PER_GIGA), _up(gbps * PER_GIGA)


def _may_stand(chain: FleetChain, name: str, host: FleetHost) -> bool:
    return (chain.hosts is None or name in chain.hosts) and (chain.zones is None or host.zone in chain.zones)


def _host(name: str, host: FleetHost, zone: int) -> HostClass:
    nodes = tuple(
        (node.cores, _down(node.memory_gb), _down(node.hugepages_gb), _link(node.link_gbps))
        for node in host.numa
        for _ in range(node.count)
    )
    return HostClass(name, host.count, nodes, host.cost, _link(host.link_gbps), zone)


def _rules(file: FleetFile) -> list[Rule]:
    index = {name: position for position, name in enumerate(file.chains)}
    own = [
        Rule(name, frozenset({index[name]}), chain.per_host, chain.per_zone)
        for name, chain in file.chains.items()
        if chain.per_host is not None or chain.per_zone is not None
    ]
    groups = [
        Rule(
            f"anti_affinity[{position}]",
            frozenset(index[name] for name in group.chains),
            group.per_host,
            group.per_zone,
        )
        for position, group in enumerate(file.anti_affinity)
    ]
    return own + groups


def _link(gbps: float | None) -> int:
    return UNLIMITED if gbps is None else _down(gbps)


def _up(value: float) -> int:
    return math.ceil(value - SLIP * max(1.0, value))


def _down(giga: float) -> int:
    return math.floor(giga * PER_GIGA * (1 + SLIP) + SLIP)
