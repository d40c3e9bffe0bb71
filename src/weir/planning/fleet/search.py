# SPDX-License-Identifier: Apache-2.0
"""The whole search: a placement at once, then better ones and better bounds until they meet or time is up.

First as few chains as possible without a place, then the least cost of hosts in use, then balance. Both of
the first are one objective, cost + penalty · unplaced, with a penalty above the cost of the whole fleet.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from weir.planning.fleet.columns import Columns, Master, loads_of
from weir.planning.fleet.instance import Fleet
from weir.planning.fleet.loads import Kinds, gather
from weir.planning.fleet.local_search import Repair, balance, fill, host_ranks, sizes
from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop
from weir.planning.fleet.whole_fleet import column_count, liquid, plain, solve

LIQUID_KINDS = 3000
SHARES = {"repair": 0.25, "plain": 0.25, "columns": 0.5, "integers": 0.65, "end": 0.95}  # of the time limit
SHARES_SMALL = {"repair": 0.1, "plain": 0.6, "columns": 0.8, "integers": 0.9, "end": 0.95}
SMALL_COLUMNS = 5000  # of the plain model
ROUNDING = 1e-6
SAY_EVERY_S = 1.0
Step = Literal["greedy", "bound", "repair", "plain", "columns", "integers", "balance"]


@dataclass(frozen=True)
class Standing:
    """Where the search stands."""

    step: Step
    passed_s: float
    cost: float
    hosts: int
    unplaced: int
    cost_bound: float
    unplaced_bound: int

    @property
    def gap(self) -> float:
        """How much of the cost could be too much: proved, for placements that leave as many unplaced."""
        return (self.cost - self.cost_bound) / self.cost if self.cost else 0.0


@dataclass(frozen=True)
class Answer:
    """The best placement found, and what is proved of it."""

    room: Room
    standing: Standing
    ended: Literal["gap", "time", "interrupted", "rounds"]


class Search:
    """One search. Same fleet, seed and rounds, same answer, while no step ends by the clock or Ctrl-C."""

    def __init__(
        self, fleet: Fleet, stop: Stop, *, gap: float, seed: int, tell: Callable[[Standing], None]
    ) -> None:
        self.fleet, self.stop, self._gap, self._tell = fleet, stop, gap, tell
        self._draw = random.Random(seed)
        self._penalty = 1 + math.fsum(host.cost * host.count for host in fleet.hosts)
        self._unit = _unit(fleet)
        self._hopeless = sum(
            chain.count for index, chain in enumerate(fleet.chains) if not fleet.allowed[index].any()
        )
        self._waiting = Counter(
            {i: chain.count for i, chain in enumerate(fleet.chains) if chain.count and fleet.allowed[i].any()}
        )
        size = sizes(fleet)
        self._order = sorted(self._waiting, key=lambda chain: (-size[chain], chain))
        self._ranks = host_ranks(fleet)
        self._small = column_count(fleet) <= SMALL_COLUMNS
        self._shares = SHARES_SMALL if self._small else SHARES
        self._step: Step = "greedy"
        self._bound = 0.0
        self.room, self.missing = self._greedy(None)
        self._say()

    def run(self, rounds: int = 10**6) -> Answer:
        """Searches. `rounds`: of repair, at most, for answers that do not depend on the machine's speed."""
        self._liquid()
        self._repair(self._shares["repair"], rounds // 2)
        if self._small and not self._good() and not self.stop.now(self._shares["plain"]):
            self._plain()
        if not self._good() and not self.stop.now(self._shares["columns"]):
            self._columns()
        self._repair(self._shares["end"], rounds - rounds // 2)
        ended: Literal["gap", "time", "interrupted", "rounds"] = "rounds"
        if self._good():
            ended = "gap"
        elif self.stop.asked:
            ended = "interrupted"
        elif self.stop.now(self._shares["end"]):
            ended = "time"
        self._step = "balance"
        balance(self.room, self.stop)
        # What was free in pieces may be in one now.
        waiting = [chain for chain in self._order if self.missing[chain]]
        self.missing = fill(self.room, self.missing, waiting, self._ranks)
        return Answer(self.room, self.standing(), ended)

    def standing(self) -> Standing:
        """Now."""
        missing, cost = sum(self.missing.values()), self.room.cost()
        least = math.ceil((self._bound - (self._penalty - 1)) / self._penalty - ROUNDING)
        cost_bound = self._bound - self._penalty * missing
        cost_bound = math.ceil(cost_bound / self._unit - ROUNDING) * self._unit if self._unit else cost_bound
        return Standing(
            step=self._step,
            passed_s=self.stop.passed_s(),
            cost=cost,
            hosts=sum(1 for _ in self.room.used()),
            unplaced=missing + self._hopeless,
            cost_bound=min(cost, max(0.0, cost_bound)),
            unplaced_bound=min(missing, max(0, least)) + self._hopeless,
        )

    def _good(self) -> bool:
        now = self.standing()
        return now.unplaced == now.unplaced_bound and now.gap <= self._gap

    def _say(self) -> None:
        self._tell(self.standing())

    def _greedy(self, hosts: list[int] | None) -> tuple[Room, Counter[int]]:
        """Best fit; with `hosts`, so many of each class of hosts are taken for open at first."""
        room = Room(self.fleet)
        left = self._waiting
        if hosts is not None:
            rank_in_class = np.concatenate([np.arange(host.count) for host in self.fleet.hosts])
            only = rank_in_class < np.array(hosts)[room.class_of_host]
            left = fill(room, left, self._order, self._ranks, only=only)
        return room, fill(room, left, [chain for chain in self._order if left[chain]], self._ranks)

    def _take(self, room: Room, missing: Counter[int]) -> None:
        """Keeps that placement if it is the best so far."""
        value = sum(missing.values()), room.cost()
        if value < (sum(self.missing.values()), self.room.cost()):
            self.room, self.missing = room, missing
        self._say()

    def _liquid(self) -> None:
        self._step = "bound"
        kinds = gather(self.fleet, LIQUID_KINDS)
        found = (
            liquid(Master(self.fleet, kinds, self._penalty, self.stop), self.stop)
            if len(kinds.count)
            else None
        )
        if found is not None:
            self._bound = max(self._bound, found.bound)
            self._ranks = 1 + found.dearness
            self._take(*self._greedy([math.ceil(hosts - ROUNDING) for hosts in found.hosts]))

    def _repair(self, share: float, rounds: int) -> None:
        self._step = "repair"
        repair = Repair(self.room, self.missing, self._ranks, self._draw)

        def better() -> None:
            self.missing = repair.missing
            self._say()

        repair.run(rounds, self.stop, share=share, good_enough=self._good, tell=better)
        self.missing = repair.missing

    def _plain(self) -> None:
        """All hosts in one integer model, from the best placement on."""
        self._step = "plain"
        said_s = self.stop.passed_s()

        def bounded(bound: float) -> None:
            nonlocal said_s
            self._bound = max(self._bound, bound)
            if self.stop.passed_s() - said_s >= SAY_EVERY_S:
                said_s = self.stop.passed_s()
                self._say()

        model = plain(self.fleet, self._penalty)
        found = solve(
            model, self.room, self.stop, share=self._shares["plain"], gap=self._gap / 2, tell=bounded
        )
        if found is not None:
            self._bound = max(self._bound, found.bound)
            room, waiting = Room(self.fleet), Counter(self._waiting)
            for node, chain, count in found.counts:
                _put_kind(room, waiting, (chain,), node, count)
            order = [chain for chain in self._order if waiting[chain]]
            self._take(room, fill(room, +waiting, order, self._ranks))

    def _columns(self) -> None:
        """The cover over loads: a tighter bound, and HiGHS's own choice of loads."""
        self._step = "columns"
        kinds = gather(self.fleet)
        master = Master(self.fleet, kinds, self._penalty, self.stop)
        first = loads_of(self.room, kinds)
        for load, _ in first:
            master.add(load)
        columns = Columns(master, self.stop, self._shares["columns"], self._draw)
        own = liquid(master, self.stop)
        if own is not None:
            columns.seed(own.duals, own.bound)

        def bounded(bound: float) -> None:
            self._bound = max(self._bound, bound)
            self._say()

        columns.run(lambda _: self._good(), bounded)
        if self._good() or self.stop.asked:
            return
        self._step = "integers"
        counts = np.array([count for _, count in first] + [0] * (len(master.loads) - len(first)))
        left_s = self.stop.left_s(self._shares["integers"])
        chosen = master.integers(counts, left_s, self._gap / 2)
        if chosen is not None:
            self._take(*self._realised(master, kinds, [int(count) for count in chosen]))

    def _realised(self, master: Master, kinds: Kinds, counts: list[int]) -> tuple[Room, Counter[int]]:
        """A placement with those loads, as far as real chains fit; the others where there is room."""
        room, waiting = Room(self.fleet), Counter(self._waiting)
        unused = [
            iter(np.flatnonzero(room.class_of_host == index).tolist())
            for index in range(len(self.fleet.hosts))
        ]
        for load, count in zip(master.loads, counts, strict=True):
            for host in (next(unused[load.host]) for _ in range(count)):
                for node, amounts in zip(room.nodes(host), load.counts, strict=True):
                    for kind in np.flatnonzero(amounts):
                        _put_kind(room, waiting, kinds.classes[kind], node, int(amounts[kind]))
        order = [chain for chain in self._order if waiting[chain]]
        return room, fill(room, +waiting, order, self._ranks)


def _put_kind(room: Room, waiting: Counter[int], classes: tuple[int, ...], node: int, count: int) -> None:
    for chain in classes:
        some = min(count, waiting[chain], room.fitting(chain, node)) if waiting[chain] else 0
        if some > 0:
            room.put(chain, node, some)
            waiting[chain] -= some
            count -= some
        if count == 0:
            return


def _unit(fleet: Fleet) -> float:
    """Of which every cost is a multiple, so that bounds can be rounded up; 0: none worth using."""
    costs = [Fraction(host.cost).limit_denominator(1000) for host in fleet.hosts]
    if any(abs(float(one) - host.cost) > 1e-12 for one, host in zip(costs, fleet.hosts, strict=True)):
        return 0.0
    unit = costs[0] if costs else Fraction(0)
    for one in costs[1:]:
        unit = Fraction(
            math.gcd(unit.numerator * one.denominator, one.numerator * unit.denominator),
            unit.denominator * one.denominator,
        )
    return float(unit)
