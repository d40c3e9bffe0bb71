# SPDX-License-Identifier: Apache-2.0
"""What is free on every host while chains are put and taken. All checks are exact, in whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from weir.planning.fleet.instance import LINK, Fleet, Floats, Ints

Mask = NDArray[np.bool_]


class Room:
    """Every NUMA node of every host: its free amounts, and the chains on it."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        classes = [index for index, host in enumerate(fleet.hosts) for _ in range(host.count)]
        self.class_of_host: Ints = np.array(classes, dtype=np.int64)
        sizes = [len(fleet.hosts[index].nodes) for index in classes]
        self.first_node: Ints = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.host_of: Ints = np.repeat(np.arange(len(classes)), sizes)
        self.class_of: Ints = self.class_of_host[self.host_of]
        rows = [node for index in classes for node in fleet.hosts[index].nodes]
        self.capacity: Ints = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
        self.free = self.capacity.copy()
        self.link_free: Ints = np.array([fleet.hosts[index].link_mbps for index in classes], dtype=np.int64)
        self.zone_of_host: Ints = np.array([fleet.hosts[index].zone for index in classes], dtype=np.int64)
        self.standing: list[Counter[int]] = [Counter() for _ in rows]
        self.chains_on: Ints = np.zeros(len(classes), dtype=np.int64)
        self.on_host: Ints = np.zeros((len(fleet.rules), len(classes)), dtype=np.int64)
        self.in_zone: Ints = np.zeros((len(fleet.rules), fleet.zones), dtype=np.int64)
        self._whole: Ints = np.maximum(self._sums(self.capacity), 1)
        self._cost: Floats = np.array([fleet.hosts[index].cost for index in classes], dtype=float)
        self._scale: Floats = fleet.scarcity / np.maximum(self.capacity, 1)
        self.journal: list[tuple[int, int, int]] | None = None
        """While it is a list: every `put`, so that `undo` can take it back."""
        self._rules_of = [np.flatnonzero(column) for column in fleet.rule_members.T]

    def fits(self, chain: int) -> Mask:
        """[node]: whether one more chain of that class may stand there."""
        need = self.fleet.needs[chain][self.class_of]
        mask = (self.free >= need).all(axis=1) & self.fleet.allowed[chain][self.class_of]
        mask &= self.link_free[self.host_of] >= need[:, LINK]
        for rule in self._rules_of[chain]:
            limits = self.fleet.rules[rule]
            if limits.per_host is not None:
                mask &= (self.on_host[rule] < limits.per_host)[self.host_of]
            if limits.per_zone is not None:
                mask &= (self.in_zone[rule] < limits.per_zone)[self.zone_of_host[self.host_of]]
        return np.asarray(mask)

    def fitting(self, chain: int, node: int) -> int:
        """How many chains of that class fit on that node."""
        kind, host = int(self.class_of[node]), int(self.host_of[node])
        if not self.fleet.allowed[chain, kind]:
            return 0
        need = self.fleet.needs[chain, kind]
        most = [int(free // n) for free, n in zip(self.free[node], need, strict=True) if n > 0]
        if need[LINK] > 0:
            most.append(int(self.link_free[host] // need[LINK]))
        for rule in self._rules_of[chain]:
            limits = self.fleet.rules[rule]
            if limits.per_host is not None:
                most.append(limits.per_host - int(self.on_host[rule, host]))
            if limits.per_zone is not None:
                most.append(limits.per_zone - int(self.in_zone[rule, self.zone_of_host[host]]))
        return min(most, default=self.fleet.chains[chain].count)

    def put(self, chain: int, node: int, count: int = 1) -> None:
        """Puts chains there; a negative count takes them away. The caller has asked whether they fit."""
        host = int(self.host_of[node])
        need = self.fleet.needs[chain, self.class_of[node]] * count
        self.free[node] -= need
        self.link_free[host] -= need[LINK]
        self.chains_on[host] += count
        self.standing[node][chain] += count
        if self.standing[node][chain] == 0:
            del self.standing[node][chain]
        if self.journal is not None:
            self.journal.append((chain, node, count))
        for rule in self._rules_of[chain]:
            self.on_host[rule, host] += count
            self.in_zone[rule, self.zone_of_host[host]] += count

    def clear(self, host: int) -> Counter[int]:
        """Takes everything off a host; what it was."""
        taken: Counter[int] = Counter()
        for node in self.nodes(host):
            for chain, count in list(self.standing[node].items()):
                self.put(chain, node, -count)
                taken[chain] += count
        return taken

    def nodes(self, host: int) -> range:
        """The rows of that host's nodes."""
        return range(int(self.first_node[host]), int(self.first_node[host + 1]))

    def used(self) -> Iterator[int]:
        """Hosts with a chain."""
        return (int(host) for host in np.flatnonzero(self.chains_on))

    def cost(self) -> float:
        """Of the hosts in use."""
        return float(self._cost[self.chains_on > 0].sum())

    def placed(self) -> Counter[int]:
        """Chains by class."""
        return sum(self.standing, Counter())

    def unplaced(self) -> Counter[int]:
        """Chains by class that have no place."""
        placed = self.placed()
        left = {index: chain.count - placed[index] for index, chain in enumerate(self.fleet.chains)}
        return Counter({index: count for index, count in left.items() if count})

    def slack(self, nodes: Ints) -> Floats:
        """[of nodes]: what is free there, scarce resources weighing more."""
        return np.asarray((self.free[nodes] * self._scale[nodes]).sum(axis=1))

    def loads(self) -> Floats:
        """[host]: share of its scarcest resource in use, over its nodes together."""
        return np.asarray((self._sums(self.capacity - self.free) / self._whole).max(axis=1))

    def node_loads(self, nodes: slice = slice(None)) -> Floats:
        """[node]: share of its scarcest resource in use."""
        capacity = self.capacity[nodes]
        return np.asarray(((capacity - self.free[nodes]) / np.maximum(capacity, 1)).max(axis=1))

    def load(self, host: int) -> float:
        """The same of one host."""
        nodes = slice(self.first_node[host], self.first_node[host + 1])
        taken = (self.capacity[nodes] - self.free[nodes]).sum(axis=0)
        return float((taken / self._whole[host]).max())

    def _sums(self, of_nodes: Ints) -> Ints:
        return np.add.reduceat(of_nodes, self.first_node[:-1], axis=0)

    def undo(self) -> None:
        """Takes back all that is in the journal, and ends it."""
        done, self.journal = self.journal or [], None
        for chain, node, count in reversed(done):
            self.put(chain, node, -count)
