# SPDX-License-Identifier: Apache-2.0
"""One core that polls its queues in turn, and takes all that it finds: how long a packet waits for its turn.

The core's work is conserved whatever the order of service, so the queues' waits are bound together by the
pseudo-conservation law of gated cyclic service (Boxma and Groenendijk, J. Appl. Prob. 24, 1987). They are
told apart as by Everitt (IEEE Trans. Comm. 34, 1986) and Boxma and Meister (1987): all wait for the same
remaining cycle R, and then for what came to the queue before them, W = (1 + load) R. Exact for one queue and
for queues that are alike; without cost of polling and with one queue it is Pollaczek and Khinchine's mean of
M/G/1, with Poisson arrivals.
Queues that the core itself fills add their work to the queue through which the packet entered the core.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from weir.planning.queueing.network import Network
from weir.planning.queueing.queue import Queue

_Moments = tuple[float, float, float]


@dataclass(frozen=True)
class Core:
    """A core under load."""

    queues: tuple[Queue, ...]
    """In polling order."""
    load: float
    cycle_us: float
    """Mean length of the cycle in which a packet comes: longer ones meet more packets."""
    cycle_variance_us2: float
    """Of that length."""
    alone_us2: float
    """Second moment of the wait in a queue that has the core alone and serves one by one."""
    polls_us: float
    """A cycle without packets."""
    uneven_us: float
    """Variance of the work that comes, for each microsecond of a cycle."""

    @property
    def turn_us(self) -> float:
        """Mean of what remains of the cycle in which a packet comes."""
        return self.cycle_us / 2

    def between(self, left: str, reached: str) -> tuple[Queue, ...]:
        """The queues that are polled after `left` and before `reached`."""
        names = [queue.name for queue in self.queues]
        first, last = names.index(left) + 1, names.index(reached)
        if last >= first:
            return self.queues[first:last]
        return self.queues[first:] + self.queues[:last]


def core(network: Network, number: int) -> Core:
    """That core of the network. ValueError if more work comes to it than it can do."""
    queues, load = network.on(number), network.loads[number]
    if load >= 1:
        raise ValueError(f"core {number} would be full {load:.2f} times over: no delay is finite there")
    polls_us = sum(queue.poll_us for queue in queues)
    entries = [queue for queue in queues if network.flows[queue.name].entering_pps]
    work = {queue.name: _work(network, queue) for queue in entries}
    rates = {queue.name: network.flows[queue.name].entering_pps / 1e6 for queue in entries}
    loads = {name: rates[name] * work[name][0] for name in rates}
    if load <= 0:
        return Core(queues, load, polls_us, 0.0, 0.0, polls_us, 0.0)
    first = sum(rates[name] * work[name][0] ** 2 for name in rates)
    second = sum(rates[name] * work[name][1] for name in rates)
    third = sum(rates[name] * work[name][2] for name in rates)
    arrival = sum(rates[name] * work[name][0] ** 2 * network.flows[name].scv for name in rates) / first
    wait_us = _wait_us(load, arrival, second / first - 1) * first
    squares = sum(one**2 for one in loads.values())
    cycle = network.bursts.cycles.get(number)
    if cycle is not None:
        return Core(
            queues,
            load=load,
            cycle_us=cycle.met_us,
            cycle_variance_us2=cycle.met_variance_us2,
            alone_us2=0.0,
            polls_us=polls_us,
            uneven_us=arrival * second,
        )
    polling = load * polls_us / 2 + polls_us * (load**2 + squares) / (2 * (1 - load))
    weight = load + squares
    share = load / weight
    # Takács' second moment of M/G/1. W = (1 - U) C + load U C, and the work that comes in U C varies too.
    wait_us2 = 2 * wait_us**2 + wait_us * 2 * third / (3 * second)
    worked_us, polled_us = 2 * share * wait_us, 2 * polling / weight
    if arrival < 1 and max(rates.values()) * polled_us <= 1:
        # Regular packets, less than one a cycle, do not meet the work of the one before.
        polled_us = arrival * polled_us + (1 - arrival) * polls_us
    worked_us2 = 3 * (wait_us2 - second * worked_us / 2) / (1 + load + load**2)
    # A cycle that starts with polls and branches: as a gamma distribution of its exact mean and variance.
    variance_us2 = max(0.0, worked_us2 - worked_us**2) + worked_us * polled_us
    return Core(queues, load, worked_us + polled_us, variance_us2, wait_us2, polls_us, second)


def _wait_us(load: float, arrival_scv: float, service_scv: float) -> float:
    """Mean wait of GI/G/1 for 1 µs of Σ rate x service²: Krämer and Langenbach-Belz, by Whitt, section 5."""
    smooth = 1.0
    if arrival_scv < 1 and arrival_scv + service_scv > 0:
        smooth = math.exp(-2 * (1 - load) * (1 - arrival_scv) ** 2 / (3 * load * (arrival_scv + service_scv)))
    return smooth * (arrival_scv + service_scv) / (2 * (1 - load))


def _work(network: Network, queue: Queue) -> _Moments:
    """First three moments of what a packet that enters there costs the core; each service is gamma."""
    rest = [0.0, 0.0, 0.0]
    for name, probability in queue.then.items():
        target = network.by_name[name]
        if probability and target.core == queue.core:
            moments = _work(network, target)
            rest = [before + probability * moment for before, moment in zip(rest, moments, strict=True)]
    mean, scv = queue.service_us, queue.service_scv
    own = mean, mean**2 * (1 + scv), mean**3 * (1 + scv) * (1 + 2 * scv)
    return (
        own[0] + rest[0],
        own[1] + 2 * own[0] * rest[0] + rest[1],
        own[2] + 3 * own[1] * rest[0] + 3 * own[0] * rest[1] + rest[2],
    )
