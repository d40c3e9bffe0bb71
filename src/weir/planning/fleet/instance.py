# SPDX-License-Identifier: Apache-2.0
"""A fleet as the solver sees it: classes of hosts and of chains, whole numbers only.

Whole numbers make every check of a placement exact: cores; memory and hugepages in MB, link in Mbit/s, needs
rounded up and capacities down by whoever makes the instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
        """[resource]: all that is wanted over all that there is."""
        wanted, have = np.zeros(len(RESOURCES)), np.zeros(len(RESOURCES))
        for index, chain in enumerate(self.chains):
            if self.allowed[index].any():
                wanted += chain.count * self.needs[index][self.allowed[index]].mean(axis=0)
        for host in self.hosts:
            have += host.count * np.sum(host.nodes, axis=0)
        return np.asarray(wanted / np.maximum(have, 1) + 1e-9)

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
