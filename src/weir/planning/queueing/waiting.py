# SPDX-License-Identifier: Apache-2.0
"""How long a packet waits on a core that polls its queues in turn, and on its whole route.

A polling core takes all that it finds. Its work is conserved whatever the order of service, so the queues'
waits are bound together by the pseudo-conservation law of gated cyclic service (Boxma and Groenendijk, J.
Appl. Prob. 24, 1987). They are separated as by Everitt (IEEE Trans. Comm. 34, 1986) and Boxma and Meister
(1987): all wait for the same remaining cycle R, and then for what came to the queue before them,
W = (1 + load) R. Exact for one queue and for queues that are alike; without cost of polling and with one
queue it is Pollaczek and Khinchine's mean of M/G/1, with Poisson arrivals. Queues that the core itself fills
add their work to the queue through which the packet entered the core.

On its route a packet goes on with its burst, through all queues that a core fills itself. A burst is what
came in one cycle of this core, or of an earlier one if that was longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.planning.queueing.distribution import Spread, Sum, spread
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


ROUTES_MAX = 10_000


@dataclass(frozen=True)
class Route:
    """One way through the network."""

    time: Sum
    visits_us: Mapping[str, float]
    """Mean time in each of its queues, service included."""


@dataclass(frozen=True)
class _Burst:
    """How long packets that go on together were gathered."""

    gathered_us: float = 0.0
    variance_us2: float = 0.0


@dataclass(frozen=True)
class _Stay:
    """On one core: mean times in its queues, and the same as a constant and random times."""

    visits_us: Mapping[str, float]
    constant_us: float
    spreads: tuple[Spread, ...]
    burst: _Burst


def routes(network: Network, cores: Mapping[int, Core]) -> tuple[Route, ...]:
    """Each with what it takes. ValueError if there are too many to count them all."""
    entering = sum(queue.outside for queue in network.queues)
    found: list[Route] = []
    for queue in network.queues:
        if queue.outside:
            for probability, stops in _paths(network, queue, queue.outside / entering):
                if len(found) == ROUTES_MAX:
                    raise ValueError(f"there are more than {ROUTES_MAX} routes through the network")
                found.append(_timed(network, cores, probability, stops))
    return tuple(found)


def _paths(network: Network, queue: Queue, probability: float) -> Iterator[tuple[float, list[Queue]]]:
    ends = 1 - sum(queue.then.values())
    if ends > 1e-9:
        yield probability * ends, [queue]
    for name, share in queue.then.items():
        if share:
            for reached, rest in _paths(network, network.by_name[name], probability * share):
                yield reached, [queue, *rest]


def _timed(network: Network, cores: Mapping[int, Core], probability: float, stops: Sequence[Queue]) -> Route:
    visits: dict[str, float] = {}
    constant = 0.0
    spreads: list[Spread] = []
    burst = _Burst()
    for queues in _by_core(stops):
        core = cores[queues[0].core]
        stay = _alone(core, queues[0]) if queues[0].one_by_one else _polled(network, core, queues, burst)
        visits |= stay.visits_us
        constant += stay.constant_us
        spreads += [one for one in stay.spreads if one.mean > 0]
        burst = stay.burst
    return Route(Sum(probability, constant, tuple(spreads)), visits)


def _by_core(stops: Sequence[Queue]) -> list[list[Queue]]:
    """Cut where the packet changes cores."""
    found: list[list[Queue]] = []
    for queue in stops:
        if found and found[-1][-1].core == queue.core:
            found[-1].append(queue)
        else:
            found.append([queue])
    return found


def _alone(core: Core, queue: Queue) -> _Stay:
    wait_us = (1 + core.load) * core.turn_us
    waiting = spread(1 - core.load, 0.0, wait_us, core.alone_us2)
    visits = {queue.name: wait_us + queue.service_us}
    return _Stay(visits, _constant_us([queue]), (waiting, *_varying([queue])), _Burst())


def _constant_us(queues: Sequence[Queue]) -> float:
    return sum(
        _once_us(queue) + (0.0 if queue.service_scv else queue.service_us)
        for queue in queues
        if not queue.sink
    )


def _once_us(queue: Queue) -> float:
    """What passes of a packet's time however few are with it."""
    return 0.0 if queue.source else queue.poll_us + queue.burst_us


def _varying(queues: Sequence[Queue]) -> tuple[Spread, ...]:
    """Services that are not constant."""
    return tuple(
        Spread(0.0, 0.0, queue.service_us, queue.service_scv * queue.service_us**2)
        for queue in queues
        if queue.service_scv and not queue.sink
    )


def _polled(network: Network, core: Core, queues: Sequence[Queue], before: _Burst) -> _Stay:
    own = before.gathered_us <= core.cycle_us
    burst = _Burst(core.cycle_us, core.cycle_variance_us2) if own else before
    visits: dict[str, float] = {}
    with_burst_us = 0.0
    last: Queue | None = None
    for queue in queues:
        waited_us = 0.0 if last is None else _between_us(network, core, last, queue)
        visits[queue.name] = waited_us
        if not queue.sink:
            others_us = _others(network, queue, burst) * queue.service_us
            visits[queue.name] += others_us + _once_us(queue) + queue.service_us
            waited_us += others_us
        with_burst_us += waited_us
        last = queue
    share = with_burst_us / burst.gathered_us if burst.gathered_us else 0.0
    mean_us, idle_us = with_burst_us, 0.0
    square_us2 = burst.variance_us2 + burst.gathered_us**2
    second_us2 = share**2 * square_us2
    if not queues[0].source:
        visits[queues[0].name] += core.turn_us
        mean_us += core.turn_us
        idle_us = core.polls_us
        if own:  # the turn and the burst are of the same cycle
            second_us2 += (1 / 3 + share) * square_us2
        else:
            turn_us2 = (core.cycle_variance_us2 + core.cycle_us**2) / 3
            second_us2 += turn_us2 + 2 * core.turn_us * with_burst_us
    second_us2 += min(1.0, share / core.load) * core.uneven_us * burst.gathered_us if core.load else 0.0
    waiting = spread(1 - core.load, idle_us, mean_us, second_us2)
    return _Stay(visits, _constant_us(queues), (waiting, *_varying(queues)), burst)


def _between_us(network: Network, core: Core, last: Queue, queue: Queue) -> float:
    """From the end of one poll to the beginning of another of the same core."""
    return sum(
        _packets_per_us(network, other) * network.each_us(other) * core.cycle_us + other.poll_us
        for other in core.between(last.name, queue.name)
    )


def _others(network: Network, queue: Queue, burst: _Burst) -> float:
    """Packets in a packet's burst beside itself. Of a regular flow one less comes in the same time."""
    expected = _packets_per_us(network, queue) * burst.gathered_us
    return expected - max(0.0, 1 - network.flows[queue.name].scv) * min(1.0, expected)


def _packets_per_us(network: Network, queue: Queue) -> float:
    return network.flows[queue.name].pps / 1e6
