# SPDX-License-Identifier: Apache-2.0
"""Simulations that the predictions are held against: events by simpy, and the same of millions of packets by
Lindley's recursion, which gives the same departures from the same random numbers."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy
from numpy.typing import NDArray

from weir.lab.execution import FULL_BURST
from weir.planning.queueing import Arrivals, Queue

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
WARM_UP = 0.1
"""Share of the packets, the first ones, that are not counted."""


@dataclass(frozen=True)
class Drawn:
    """Random numbers of one run: what comes in when, and for each queue how each packet fares there."""

    arrival_us: Array
    """Of each packet, ascending."""
    entry: Numbers
    """Its first queue."""
    service_us: Mapping[str, Array]
    """At each queue, by packet."""
    next: Mapping[str, Numbers]
    """At each queue, by packet: the queue it goes on to; -1 none."""


@dataclass
class Observed:
    """What a run showed."""

    delay_us: Array
    """Of each packet, in order of arrival; NaN if the run ended before."""
    stay_us: dict[str, Array] = field(default_factory=dict)
    """At each queue, by packet; NaN where it did not come."""
    duration_us: float = 0.0


def draw(
    queues: Sequence[Queue], pps: float, arrivals: Arrivals, packets: int, random: np.random.Generator
) -> Drawn:
    """For a run of so many packets."""
    gap_us = 1e6 / pps
    gaps = random.exponential(gap_us, packets) if arrivals == "poisson" else np.full(packets, gap_us)
    numbers = {queue.name: number for number, queue in enumerate(queues)}
    outside = np.array([queue.outside for queue in queues])
    return Drawn(
        arrival_us=np.cumsum(gaps),
        entry=random.choice(len(queues), size=packets, p=outside / outside.sum()),
        service_us={queue.name: _services(queue, packets, random) for queue in queues},
        next={
            queue.name: _choices([(numbers[name], p) for name, p in queue.then.items()], packets, random)
            for queue in queues
        },
    )


def _services(queue: Queue, packets: int, random: np.random.Generator) -> Array:
    if not queue.service_scv:
        return np.full(packets, queue.service_us)
    return random.gamma(1 / queue.service_scv, queue.service_us * queue.service_scv, packets)


def _choices(targets: list[tuple[int, float]], packets: int, random: np.random.Generator) -> Numbers:
    bounds = np.cumsum([probability for _, probability in targets])
    chosen = np.searchsorted(bounds, random.random(packets) * (1 + 1e-12), side="right")
    return np.array([target for target, _ in targets] + [-1])[np.minimum(chosen, len(targets))]


def recursion(queues: Sequence[Queue], drawn: Drawn) -> Observed:
    """Each queue alone on its core, packets one by one; queues in feed-forward order."""
    packets = len(drawn.arrival_us)
    here = drawn.entry.copy()
    clock = drawn.arrival_us.copy()
    observed = Observed(np.zeros(packets), duration_us=float(drawn.arrival_us[-1]))
    for number, queue in enumerate(queues):
        who = np.flatnonzero(here == number)
        who = who[np.argsort(clock[who], kind="stable")]
        work = np.cumsum(drawn.service_us[queue.name][who])
        before = np.concatenate(([0.0], work[:-1]))
        left = work + np.maximum.accumulate(clock[who] - before)
        stay = np.full(packets, np.nan)
        stay[who] = left - clock[who]
        observed.stay_us[queue.name] = stay
        clock[who] = left
        here[who] = drawn.next[queue.name][who]
    observed.delay_us = clock - drawn.arrival_us
    return observed


def events(queues: Sequence[Queue], drawn: Drawn) -> Observed:
    """The same by simpy: a server a queue, and a process that lets the packets come."""
    environment = simpy.Environment()
    stores = [simpy.Store(environment) for _ in queues]
    packets = len(drawn.arrival_us)
    observed = Observed(np.full(packets, np.nan), {queue.name: np.full(packets, np.nan) for queue in queues})

    def come() -> Generator[simpy.Event, Any, None]:
        for packet, (time_us, entry) in enumerate(zip(drawn.arrival_us, drawn.entry, strict=True)):
            yield environment.timeout(time_us - environment.now)
            stores[entry].put((packet, environment.now))

    def serve(number: int, queue: Queue) -> Generator[simpy.Event, Any, None]:
        while True:
            packet, came_us = yield stores[number].get()
            yield environment.timeout(drawn.service_us[queue.name][packet])
            observed.stay_us[queue.name][packet] = environment.now - came_us
            target = drawn.next[queue.name][packet]
            if target < 0:
                observed.delay_us[packet] = environment.now - drawn.arrival_us[packet]
            else:
                stores[target].put((packet, environment.now))

    environment.process(come())
    for number, queue in enumerate(queues):
        environment.process(serve(number, queue))
    environment.run()
    observed.duration_us = environment.now
    return observed


def polled(queues: Sequence[Queue], drawn: Drawn) -> Observed:
    """Cores that take turns between their queues, by simpy: up to 32 packets a poll, gone on together."""
    environment = simpy.Environment()
    packets = len(drawn.arrival_us)
    observed = Observed(np.full(packets, np.nan), duration_us=float(drawn.arrival_us[-1]))
    waiting: list[list[int]] = [[] for _ in queues]
    outside = [np.flatnonzero(drawn.entry == number).tolist() for number in range(len(queues))]
    arrival_us = drawn.arrival_us.tolist()
    came = [0] * len(queues)
    birth_us = drawn.arrival_us.copy()

    def taken(number: int) -> list[int]:
        first = last = came[number]
        while last < len(outside[number]) and arrival_us[outside[number][last]] <= environment.now:
            last += 1
        if last == first and not waiting[number]:
            return []
        came[number] = last
        waiting[number] += outside[number][first:last]
        burst = waiting[number][:FULL_BURST]
        del waiting[number][:FULL_BURST]
        return burst

    def poll(core: list[tuple[int, Queue]]) -> Generator[simpy.Event, Any, None]:
        while environment.now < observed.duration_us:
            for number, queue in core:
                burst = taken(number)
                if not burst:
                    yield environment.timeout(queue.poll_us)
                    continue
                if queue.source:
                    birth_us[burst] = environment.now + queue.poll_us + queue.burst_us
                if queue.sink:
                    observed.delay_us[burst] = environment.now - birth_us[burst]
                served_us = float(drawn.service_us[queue.name][burst].sum())
                yield environment.timeout(queue.poll_us + queue.burst_us + served_us)
                for packet in burst:
                    target = drawn.next[queue.name][packet]
                    if target >= 0:
                        waiting[target].append(packet)
                    elif not queue.sink:
                        observed.delay_us[packet] = environment.now - birth_us[packet]

    for core in sorted({queue.core for queue in queues}):
        environment.process(poll([(n, queue) for n, queue in enumerate(queues) if queue.core == core]))
    environment.run(until=observed.duration_us)
    return observed
