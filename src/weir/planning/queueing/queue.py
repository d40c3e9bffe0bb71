# SPDX-License-Identifier: Apache-2.0
"""A queue of a core, how long bursts are, and how long the cycles of a core whose bursts cost something.

A poll with packets costs something however few they are, so a lightly loaded core, whose bursts are short,
works more for each packet than a full one, and longer bursts absorb what more load would cost. The cycles of
a polling core are a Markov chain: a cycle is as long as its packets make it, and what comes during it is the
next one's packets. Its stationary distribution says how many packets a poll finds that finds any, and how
long the cycle is in which a packet comes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from weir.lab.execution import FULL_BURST

Arrivals = Literal["constant", "poisson"]


@dataclass(frozen=True)
class Queue:
    """An input of an execution area, and what the area does with a packet from it."""

    name: str
    core: int
    service_us: float
    """Of one packet, mean."""
    service_scv: float = 0.0
    """Squared coefficient of variation of it: 0 constant, 1 exponential."""
    outside: float = 0.0
    """Share of the network's packets that come in here."""
    then: Mapping[str, float] = field(default_factory=dict)
    """Where its packets go on, with probabilities; what is left of 1 leaves the network."""
    poll_us: float = 0.0
    """What each poll costs, with packets or without."""
    burst_us: float = 0.0
    """What one with packets costs beside that and its packets."""
    one_by_one: bool = False
    """A packet goes on as soon as it is served, as in the textbook; else with its whole burst."""
    source: bool = False
    """Makes its packets. They are stamped when it has them together: their delay begins behind what the poll
    and the burst cost by themselves."""
    sink: bool = False
    """A packet's delay ends when it is taken."""
    places: int | None = None
    """Packets that it can hold; None: any number."""


_SWEEPS = 8
"""Over the cores, at most: what one gives on together another one finds together."""
_STILL = 1e-3
_MOST = 4 * FULL_BURST
"""Packets of a cycle; longer ones are taken as so long."""
_SHORTEST_US = 1e-6
_ROUNDING = 1e-9
_Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Cycle:
    """Of a core, polls included."""

    busy: float
    """Share of it in which more is done than polling."""
    met_us: float
    """Mean of those in which packets come: longer ones meet more of them."""
    met_variance_us2: float
    """Of the same."""


@dataclass(frozen=True)
class Bursts:
    """Of all cores that have a fixed cost of bursts, each by itself."""

    lengths: Mapping[str, float]
    """Packets that a poll of a queue finds, if any."""
    cycles: Mapping[int, Cycle]


@dataclass(frozen=True)
class _Stream:
    """What comes to one queue of a core with an arrival there: of a packet, or of some put there at once."""

    queue: Queue
    hit: float
    """Probability that some of them come to this queue."""
    packets: float
    """Mean number of those that do."""

    def busy(self, arrivals: _Array) -> _Array:
        """Polls that find some, in a cycle with so many arrivals."""
        some = 1 - (1 - self.hit) ** arrivals
        return np.asarray(np.maximum(some, self.packets * arrivals / FULL_BURST))


def bursts(queues: Sequence[Queue], pps: Mapping[str, float], arrivals: Arrivals) -> Bursts:
    """Under that load, `pps` to each queue; `queues` so that each comes after those that feed it."""
    lengths = {queue.name: 1.0 for queue in queues}
    used = [queue for queue in queues if pps[queue.name]]
    dear = list(dict.fromkeys(queue.core for queue in used if _dear(queues, queue.core)))
    cycles: dict[int, Cycle] = {}
    for _ in range(_SWEEPS if dear else 0):
        before = dict(lengths)
        for core in dear:
            mine = [queue for queue in used if queue.core == core]
            polls_us = sum(queue.poll_us for queue in queues if queue.core == core)
            per_us, streams = _streams(mine, queues, pps, lengths)
            found, cycles[core] = _chain(streams, per_us, max(polls_us, _SHORTEST_US), arrivals)
            lengths |= found
        if max(abs(lengths[name] / before[name] - 1) for name in lengths) < _STILL:
            break
    return Bursts(lengths, cycles)


def _dear(queues: Sequence[Queue], core: int) -> bool:
    return any(queue.burst_us for queue in queues if queue.core == core)


def _streams(
    mine: Sequence[Queue], queues: Sequence[Queue], pps: Mapping[str, float], lengths: Mapping[str, float]
) -> tuple[float, list[_Stream]]:
    """Arrivals at a core, in a microsecond, and what comes to each of its queues with one."""
    rates: dict[str, float] = {}
    together: dict[str, float] = {}
    passed: dict[str, dict[str, float]] = {}  # packets to a queue for each that enters the core, by where
    for queue in mine:
        passed[queue.name] = {}
        alone, bunched, bunches = pps[queue.name], 0.0, 0.0
        for other in queues:
            given = pps[other.name] * other.then.get(queue.name, 0.0)
            alone -= given
            if given and other.core == queue.core:
                for name, ratio in passed[other.name].items():
                    known = passed[queue.name].get(name, 0.0)
                    passed[queue.name][name] = known + ratio * other.then[queue.name]
            elif given:
                bunched += given
                bunches += given / max(1.0, lengths[other.name] * other.then[queue.name])
        entering = bunched + (alone if alone > _ROUNDING * pps[queue.name] else 0.0)
        if entering:
            passed[queue.name][queue.name] = entering / pps[queue.name]
            rates[queue.name] = (bunches + entering - bunched) / 1e6
            together[queue.name] = entering / 1e6 / rates[queue.name]
    return sum(rates.values()), [_stream(queue, passed[queue.name], rates, together) for queue in mine]


def _stream(
    queue: Queue, passed: Mapping[str, float], rates: Mapping[str, float], together: Mapping[str, float]
) -> _Stream:
    total = sum(rates.values())
    packets = {name: ratio * together[name] for name, ratio in passed.items()}
    return _Stream(
        queue,
        hit=sum(rates[name] / total * min(1.0, mean) for name, mean in packets.items()),
        packets=sum(rates[name] / total * mean for name, mean in packets.items()),
    )


def _chain(
    streams: Sequence[_Stream], per_us: float, polls_us: float, arrivals: Arrivals
) -> tuple[dict[str, float], Cycle]:
    """Mean bursts of one core's queues, and its cycle."""
    most = max(stream.packets for stream in streams)
    numbers = np.arange(math.ceil(_MOST / most) + 1, dtype=np.float64)
    cycles_us = np.full(len(numbers), polls_us)
    for stream in streams:
        cycles_us += stream.busy(numbers) * stream.queue.burst_us
        cycles_us += stream.packets * numbers * stream.queue.service_us
    expected = np.minimum(per_us * cycles_us, len(numbers) - 1.0)
    if arrivals == "constant" and expected[1] < 1:
        # The next one does not come before the one before is served.
        expected[1:] = np.where(expected[1:] < 1, 0.0, expected[1:])
        expected[0] = min(1.0, polls_us / (1 / per_us - cycles_us[1]))
    shares = _stationary(_arriving(expected, arrivals))
    mean = float(shares @ numbers)
    lengths = {
        stream.queue.name: mean * stream.packets / float(shares @ stream.busy(numbers)) for stream in streams
    }
    met = shares * expected / float(shares @ expected)
    met_us = float(met @ cycles_us)
    variance_us2 = max(0.0, float(met @ cycles_us**2) - met_us**2)
    return lengths, Cycle(1 - polls_us / float(shares @ cycles_us), met_us, variance_us2)


def _arriving(expected: _Array, arrivals: Arrivals) -> _Array:
    """Probability of each number of arrivals, column by column, where so many are expected, row by row."""
    numbers = np.arange(len(expected))
    mean = expected[:, None]
    if arrivals == "poisson":
        found = np.exp(numbers * np.log(mean) - mean - gammaln(numbers + 1))
    else:
        found = np.maximum(0.0, 1 - np.abs(mean - numbers))
    found[:, -1] += np.maximum(0.0, 1 - found.sum(axis=1))
    return np.asarray(found)


def _stationary(chain: _Array) -> _Array:
    """Shares of the states of a Markov chain, whose row is where each one goes."""
    equations = chain.T - np.eye(len(chain))
    equations[-1] = 1.0
    aim = np.zeros(len(chain))
    aim[-1] = 1.0
    found = np.maximum(0.0, np.linalg.solve(equations, aim))
    return np.asarray(found / found.sum())
