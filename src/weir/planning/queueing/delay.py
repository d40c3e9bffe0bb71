# SPDX-License-Identifier: Apache-2.0
"""One-way delay, queue lengths and loss of a network of queues on cores, under a given load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.lab.execution import FULL_BURST
from weir.planning.queueing.core import core
from weir.planning.queueing.distribution import quantiles
from weir.planning.queueing.network import Network, network
from weir.planning.queueing.queue import Arrivals, Queue
from weir.planning.queueing.routes import Route, routes

NEAR_FULL = 0.9
"""Above this load a small error of a cost is a large one of the delay."""


@dataclass(frozen=True)
class QueueState:
    """One queue under the load."""

    pps: float
    delay_us: float
    """Mean time in it, service included."""
    packets: float
    """Mean number in it, in service too (Little)."""
    loss: float
    """Share of its packets that find it full."""


@dataclass(frozen=True)
class DelayPrediction:
    """How long packets take from one end of the network to the other."""

    mean_us: float
    p50_us: float
    p90_us: float
    p99_us: float
    loads: Mapping[int, float]
    """Of each core, the share of its time that work takes."""
    queues: Mapping[str, QueueState]
    limits: tuple[str, ...]
    """Sentences about where it does not hold."""


def delay(queues: Sequence[Queue], arrival_pps: float, arrivals: Arrivals = "poisson") -> DelayPrediction:
    """The delay at that load; each core polls its queues in the order in which they are given.

    ValueError if a core cannot carry the load, or if the queues are no feed-forward network.
    """
    loaded = network(queues, arrival_pps, arrivals)
    cores = {number: core(loaded, number) for number in loaded.loads}
    ways = routes(loaded, cores)
    p50_us, p90_us, p99_us = quantiles([way.time for way in ways], (0.5, 0.9, 0.99))
    return DelayPrediction(
        mean_us=sum(way.time.probability * sum(way.visits_us.values()) for way in ways),
        p50_us=p50_us,
        p90_us=p90_us,
        p99_us=p99_us,
        loads=dict(loaded.loads),
        queues=_states(loaded, ways),
        limits=(
            *_near_full(loaded),
            *_large_bursts(loaded, {number: one.cycle_us for number, one in cores.items()}),
            *_approximate(loaded),
        ),
    )


def _states(loaded: Network, ways: Sequence[Route]) -> dict[str, QueueState]:
    found = {}
    for queue in loaded.queues:
        visits = [
            (way.time.probability, way.visits_us[queue.name]) for way in ways if queue.name in way.visits_us
        ]
        weight = sum(probability for probability, _ in visits)
        if not weight:
            continue
        time_us = sum(probability * each for probability, each in visits) / weight
        pps = loaded.flows[queue.name].pps
        packets = pps * time_us / 1e6
        found[queue.name] = QueueState(
            pps, time_us, packets, loss(packets, loaded.loads[queue.core], queue.places)
        )
    return found


def loss(packets: float, load: float, places: int | None) -> float:
    """Share that a queue of so many places refuses, if without a limit so many packets would be in it.

    Keilson's relation of M/G/1/K to M/G/1 (Tijms, Stochastic Models, 1994), with a geometric
    tail of the right mean: exact for M/M/1/K.
    """
    if places is None or packets <= 0:
        return 0.0
    waits = load if packets > load else packets / (1 + packets)
    tail = waits * (1 - waits / packets) ** (places - 1)
    return (1 - load) * tail / (1 - load * tail)


def _near_full(loaded: Network) -> list[str]:
    return [
        f"Core {number} is busy for {load:.0%} of its time: 1 % more cost is {load / (1 - load):.0f} % more "
        "delay there."
        for number, load in loaded.loads.items()
        if load > NEAR_FULL
    ]


def _large_bursts(loaded: Network, cycles_us: Mapping[int, float]) -> list[str]:
    return [
        f"{queue.name}: {loaded.flows[queue.name].pps / 1e6 * cycles_us[queue.core]:.0f} packets wait at a "
        f"poll, of which it takes {FULL_BURST}: they wait longer than this says."
        for queue in loaded.queues
        if not queue.one_by_one and loaded.flows[queue.name].pps / 1e6 * cycles_us[queue.core] > FULL_BURST
    ]


def _approximate(loaded: Network) -> list[str]:
    """Where a flow is not Poisson, waits are two-moment approximations."""
    used = [queue.name for queue in loaded.queues if loaded.flows[queue.name].pps]
    names = [name for name in used if abs(loaded.flows[name].scv - 1) > 1e-9]
    if not names:
        return []
    where = "any queue" if names == used else ", ".join(names)
    return [f"Arrivals are not Poisson at {where}: waits there are approximations by two moments."]
