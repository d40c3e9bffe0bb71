# SPDX-License-Identifier: Apache-2.0
"""What a run is asked to measure, in which order, and until when. Pure, but for the clock that it is given.

A run is rounds of visits: in each round every set-up is built once and measured. Rounds are complete blocks:
there and back, or each in a random order of its own, so that a drift of the machine is no difference between
set-ups. Under a budget two rounds are blocks, since two tell how much a rate varies; every further visit goes
where the interval of the median is widest.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.lab.ways import Key
    from weir.results.campaign import SharedCampaign

BLOCKS = 2
"""Rounds under a budget that every set-up has before any has more."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class HandedOut:
    """A campaign over several hosts hands points out to this one, one after the other."""

    shared: SharedCampaign
    points: Iterable[tuple[Key, str, int]]
    """Each a set-up, a frame size and a round, when it is asked for: by then the one before has been
    measured."""
    budget_s: float | None = None
    """Of the campaign with all its parts, which it keeps by itself; None: no limit."""
    left_s: Callable[[], float | None] = lambda: None
    """Of that, once no more points come."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a run besides its lab."""

    seed: int | None = None
    """Of a random order within each round; None: there and back."""
    budget_s: float | None = None
    """After which nothing is begun that would not end in time; None: no limit."""
    resumed: str | None = None
    """The id of the stored run that goes on; its order is that of this one. None: a new one."""
    handed_out: HandedOut | None = None
    """None: the run goes through all points by itself."""


@dataclass(frozen=True)
class Visit:
    """One set-up, built once and measured."""

    setup: Key
    round: int
    """From 0."""


class Order:
    """Of all visits of a run: each set-up once a round."""

    def __init__(
        self, setups: Sequence[Key], rounds: int, *, seed: int | None = None, widest_first: bool = False
    ) -> None:
        """`seed`: of the random order within each round; None: there and back. `widest_first`: after BLOCKS
        rounds, what is known least exactly comes first."""
        self._setups = tuple(setups)
        self._rounds = rounds
        self._seed = seed
        self._blocks = min(rounds, BLOCKS) if widest_first else rounds

    def blocks(self) -> Iterator[Visit]:
        """The visits whose order is known beforehand; the same for the same seed."""
        chance = random.Random(self._seed)
        for number in range(self._blocks):
            turn = self._setups[:: -1 if number % 2 else 1]
            if self._seed is not None:
                turn = tuple(chance.sample(self._setups, len(self._setups)))
            yield from (Visit(setup, number) for setup in turn)

    @property
    def later(self) -> int:
        """How many visits come after those, in an order that only the measurement tells."""
        return (self._rounds - self._blocks) * len(self._setups)

    def visits(self, done: Mapping[Key, int], width: Callable[[Key], float]) -> Iterator[Visit]:
        """Those that are left, each when it is asked for.

        `done`: rounds that a set-up has; absent: none. `width`: how wide the interval of its median is now,
        as a share of it.
        """
        for visit in self.blocks():
            if visit.round >= done.get(visit.setup, 0):
                yield visit
        rounds = {setup: max(self._blocks, done.get(setup, 0)) for setup in self._setups}
        while left := [setup for setup in self._setups if rounds[setup] < self._rounds]:
            # Of equals the one with the fewest rounds; Python's max takes the first of those.
            widest = max(left, key=lambda setup: (width(setup), -rounds[setup]))
            yield Visit(widest, rounds[widest])
            rounds[widest] += 1


def relative_width(samples: Sequence[float]) -> float:
    """Half the confidence interval of their middle, as a share of it: Student's t on logarithms. That of the
    median itself is wider by the same factor for all, which changes no order.

    Infinite of one sample; 0 of none: what has no rate gets none by being repeated.
    """
    if len(samples) < 2 or min(samples) <= 0:
        return math.inf if len(samples) == 1 else 0.0
    from scipy.stats import t as student  # dear among imports, and only a budget asks

    freedom = len(samples) - 1
    deviation = statistics.stdev(map(math.log, samples))
    return float(student.ppf((1 + CONFIDENCE) / 2, freedom)) * deviation / math.sqrt(len(samples))


class Budget:
    """The time that a run may take: nothing is begun that would not end within it, by what took how long
    so far."""

    def __init__(self, budget_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """`budget_s`: from now on; None: no limit."""
        self._clock = clock
        self._until_s: float | None
        self.ends_in(budget_s)
        self._took_s: dict[Key, list[float]] = {}

    def ends_in(self, left_s: float | None) -> None:
        """So much is left of it; None: no limit."""
        self._until_s = None if left_s is None else self._clock() + left_s

    @property
    def left_s(self) -> float | None:
        """None: no limit."""
        return None if self._until_s is None else max(0.0, self._until_s - self._clock())

    def took(self, setup: Key, seconds: Iterable[float]) -> None:
        """Cases of that set-up took so long, with what had to be built for them."""
        self._took_s.setdefault(setup, []).extend(seconds)

    def fits(self, setup: Key) -> bool:
        """Whether another case of it is expected to end in time: if it takes as long as the longest of its
        own so far, or as all do on average where it has none. The first case of a run is always begun."""
        known = [one for each in self._took_s.values() for one in each]
        if self.left_s is None or not known:
            return True
        own = self._took_s.get(setup)
        return (max(own) if own else statistics.fmean(known)) <= self.left_s
