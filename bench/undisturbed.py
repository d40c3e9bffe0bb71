# SPDX-License-Identifier: Apache-2.0
"""Pairs of measurements during which nobody else had the cores; others are taken again, or dropped.

Who had a core in which microsecond the kernel tells (`weir.fabric.outside`), whatever the host took the loops
of weir-dp and the kernel's count of stolen time. All programs that the bench started take part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic

from bench.pairs import Measured
from weir.base.si import NS_PER_S, NS_PER_US, US_PER_S
from weir.fabric.outside import TakenWatch
from weir.fabric.outside.reading import cpu_times, threads_of
from weir.measure.absences import absences
from weir.protocol.traffic_results import TrafficResult

OTHERS_SHARE_MAX = 0.02
"""Of a measurement's time on one core: more would be seen in a ratio."""
TRIES = 4
"""Of a pair, until it is dropped."""


@dataclass
class Pairs(Generic[Measured]):
    """What was taken. `again`: pairs that others disturbed; `dropped`: of them, those without a calm one in
    `TRIES`."""

    taken: list[tuple[Measured, Measured]] = field(default_factory=list)
    again: int = 0
    dropped: int = 0


def undisturbed_pairs(
    ours: Callable[[], tuple[Measured, float]],
    peer: Callable[[], tuple[Measured, float]],
    pairs: int,
    tries: int = TRIES,
) -> Pairs[Measured]:
    """As `bench.pairs.interleave`, of measurements that each say which share of their time others had."""
    found = Pairs[Measured]()
    for number in range(pairs):
        for attempt in range(tries):
            if (number + attempt) % 2 == 0:
                a, b = ours(), peer()
            else:
                b, a = peer(), ours()
            if max(a[1], b[1]) <= OTHERS_SHARE_MAX:
                found.taken.append((a[0], b[0]))
                break
            found.again += 1
        else:
            found.dropped += 1
    return found


class Onlookers:
    """Tells which share of a run others had of these cores."""

    def __init__(self, cores: Collection[int]) -> None:
        self._cores = sorted(cores)
        self._watch = TakenWatch(cores, threads_of_this_bench, threads_of_this_bench)
        self._stolen_s: dict[int, float] = {}

    @property
    def refused(self) -> str | None:
        """Why the kernel does not tell; known from the first run on."""
        return self._watch.refused

    def begin(self) -> None:
        """Just before a run."""
        self._stolen_s = self._stolen()
        self._watch.begin()

    def share(self, result: TrafficResult) -> float:
        """Just after it: of the core of which others had most."""
        taken, stolen_s = self._watch.end(), self._stolen()
        away_s = {core: stolen_s[core] - self._stolen_s[core] for core in self._cores}
        if result.slices is not None:
            seen = absences(result.slices, taken)
            for core in self._cores:
                spans = [(one.from_us, one.to_us) for one in seen if one.core == core]
                away_s[core] = max(
                    away_s[core], together_us(spans, result.tx_duration_ns / NS_PER_US) / US_PER_S
                )
        return max(away_s.values()) / (result.tx_duration_ns / NS_PER_S)

    def close(self) -> None:
        """Gives everything back."""
        self._watch.close()

    def _stolen(self) -> dict[int, float]:
        times = cpu_times(Path("/proc/stat").read_text(encoding="ascii"))
        return {core: times[core].steal_s for core in self._cores}


def together_us(spans: Iterable[tuple[float, float]], end_us: float) -> float:
    """What they cover from 0 to the end: a program that has a core is the host's gap of a loop there, too."""
    covered_us = until_us = 0.0
    for begun_us, ended_us in sorted(spans):
        new_us = min(ended_us, end_us) - max(begun_us, until_us)
        if new_us > 0:
            covered_us += new_us
            until_us = min(ended_us, end_us)
    return covered_us


@contextmanager
def onlookers(*cores: int) -> Iterator[Onlookers]:
    """Closed after the body."""
    made = Onlookers(cores)
    try:
        yield made
    finally:
        made.close()


def threads_of_this_bench() -> frozenset[int]:
    """Of all programs that this one has started, and that these have."""
    found: set[int] = set()
    left = _children(os.getpid())
    while left:
        pid = left.pop()
        found.add(pid)
        left += _children(pid)
    return frozenset(threads_of(found))


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(word) for task in tasks for word in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []
