# SPDX-License-Identifier: Apache-2.0
"""What a packet bears of the fixed cost of its burst.

A poll with packets costs something however few they are, so a lightly loaded core, whose bursts are short,
works more for each packet than a full one. The cycles of a polling core are a Markov chain: a cycle is as
long as its packets make it, and what comes during it is the next one's packets. Its stationary distribution
says how many packets a poll finds that finds any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from weir.model.queueing.queue import Arrivals, Queue
from weir.spec.execution import FULL_BURST

_SWEEPS = 4
"""Over the cores: what one gives on together another one finds together."""
_MOST = 4 * FULL_BURST
"""Packets of a cycle; with more of them nothing changes for any."""
_Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class _Stream:
    """What comes to one queue of a core, beside what comes to the others."""

    queue: Queue
    share: float
    """Of the packets that come to the busiest queue of the core."""
    together: float
    """Packets that another core puts there at once."""

    def busy(self, packets: _Array) -> _Array:
        """Polls that find some, in a cycle of so many packets."""
        mine = self.share * packets
        return np.asarray(np.maximum(np.minimum(1.0, mine / self.together), mine / FULL_BURST))


def borne(queues: Sequence[Queue], pps: Mapping[str, float], arrivals: Arrivals) -> tuple[Queue, ...]:
    """The queues with the fixed cost of bursts in their services; `pps`: to each queue."""
    if not any(queue.burst_us for queue in queues):
        return tuple(queues)
    lengths = dict.fromkeys((queue.name for queue in queues), 1.0)
    for _ in range(_SWEEPS):
        for core in dict.fromkeys(queue.core for queue in queues if pps[queue.name]):
            mine = [queue for queue in queues if queue.core == core and pps[queue.name]]
            most_pps = max(pps[queue.name] for queue in mine)
            streams = [
                _Stream(queue, pps[queue.name] / most_pps, _together(queues, queue, lengths))
                for queue in mine
            ]
            polls_us = sum(queue.poll_us for queue in queues if queue.core == core)
            lengths |= _lengths(streams, most_pps / 1e6, polls_us, arrivals)
    return tuple(
        replace(queue, service_us=queue.service_us + queue.burst_us / lengths[queue.name], burst_us=0.0)
        for queue in queues
    )


def _together(queues: Sequence[Queue], queue: Queue, lengths: Mapping[str, float]) -> float:
    """Packets that another core puts there at once."""
    given = (
        lengths[other.name] * other.then[queue.name]
        for other in queues
        if other.core != queue.core and queue.name in other.then
    )
    return max(1.0, *given, 0.0)


def _lengths(
    streams: Sequence[_Stream], per_us: float, polls_us: float, arrivals: Arrivals
) -> dict[str, float]:
    """Mean burst of each queue of one core, to the busiest of which so many packets come."""
    at_once = round(min(stream.together for stream in streams))
    packets = np.arange(0, _MOST + 1, at_once, dtype=np.float64)
    cycles_us = np.full(len(packets), polls_us)
    for stream in streams:
        cycles_us += stream.busy(packets) * stream.queue.burst_us
        cycles_us += stream.share * packets * stream.queue.service_us
    shares = _stationary(_arriving(per_us * cycles_us / at_once, len(packets), arrivals))
    mean = float(shares @ packets)
    return {
        stream.queue.name: max(1.0, stream.share * mean / float(shares @ stream.busy(packets)))
        if mean
        else stream.together
        for stream in streams
    }


def _arriving(expected: _Array, states: int, arrivals: Arrivals) -> _Array:
    """Probability of each number of arrivals where so many are expected, row by row."""
    numbers = np.arange(states)
    expected = np.minimum(expected, states - 1.0)[:, None]
    regular = np.maximum(0.0, 1 - np.abs(expected - numbers))
    found: _Array = np.asarray(poisson.pmf(numbers, expected)) if arrivals == "poisson" else regular
    found[:, -1] += 1 - found.sum(axis=1)
    return found


def _stationary(chain: _Array) -> _Array:
    """Shares of the states of a Markov chain, whose row is where each one goes."""
    count = len(chain)
    equations = np.vstack([chain.T - np.eye(count), np.ones(count)])
    found = np.linalg.lstsq(equations, np.append(np.zeros(count), 1.0), rcond=None)[0]
    found = np.maximum(0.0, found)
    return np.asarray(found / found.sum())
