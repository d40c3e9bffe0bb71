# SPDX-License-Identifier: Apache-2.0
"""One-way delay, queue lengths and loss under a given load: of a network of queues on cores, and of a set-up,
whose areas' inputs are such queues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from weir.lab.execution import FULL_BURST, Area, AreaPath, Execution
from weir.planning.model.capacity import CostModel, budget_hz, without_unknown_fastpath
from weir.planning.model.terms import SHORT_BURST, path_terms, state_bytes
from weir.planning.queueing.distribution import quantiles
from weir.planning.queueing.network import Network, network
from weir.planning.queueing.queue import Arrivals, Queue
from weir.planning.queueing.waiting import Route, core, routes

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
    all_routes = routes(loaded, cores)
    p50_us, p90_us, p99_us = quantiles([route.time for route in all_routes], (0.5, 0.9, 0.99))
    return DelayPrediction(
        mean_us=sum(route.time.probability * sum(route.visits_us.values()) for route in all_routes),
        p50_us=p50_us,
        p90_us=p90_us,
        p99_us=p99_us,
        loads=dict(loaded.loads),
        queues=_states(loaded, all_routes),
        limits=(
            *_near_full(loaded),
            *_large_bursts(loaded, {number: one.cycle_us for number, one in cores.items()}),
            *_approximate(loaded),
        ),
    )


def _states(loaded: Network, all_routes: Sequence[Route]) -> dict[str, QueueState]:
    found = {}
    for queue in loaded.queues:
        visits = [
            (route.time.probability, route.visits_us[queue.name])
            for route in all_routes
            if queue.name in route.visits_us
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


_NO_BURSTS = (
    "The model is of a time when what a burst costs by itself was not measured: delays are longer; "
    "calibrate again."
)
EMPTY_POLL_CYCLES = 32.0
"""Of one path, with its two time-stamps: what weir-dp's ledger counts on an idle EPYC, within a tenth."""


def execution_delay(
    model: CostModel, execution: Execution, arrival_pps: float, arrivals: Arrivals = "constant"
) -> DelayPrediction:
    """One-way delay from the generators to the receivers, without what the host takes away.

    `arrival_pps`: of all generators together. ValueError if a core cannot carry it. Not of a switch: the
    kernel's softirq is no queue that somebody polls.
    """
    found = delay(execution_queues(model, execution), arrival_pps, arrivals)
    if any(SHORT_BURST in name for name in model.parameters.names):
        return found
    return replace(found, limits=(*found.limits, _NO_BURSTS))


def execution_queues(model: CostModel, execution: Execution) -> tuple[Queue, ...]:
    """One for each path of each area, in the order in which each core polls them; as of rates, without fast
    paths if none was measured."""
    execution = without_unknown_fastpath(model, execution)
    return tuple(
        _queue(model, execution, area, index, path)
        for area in execution.areas
        for index, path in enumerate(area.paths)
    )


def _queue(model: CostModel, execution: Execution, area: Area, index: int, path: AreaPath) -> Queue:
    excess_cycles = model.memory.excess_cycles(state_bytes(execution, area.core))

    def cycles_at(fill: float) -> float:
        stages, rest = path_terms(area, replace(path, fill=fill), execution, excess_cycles)
        return sum(model.parameters.value(terms) for terms in (*stages, rest))

    # Costs are linear in 1/fill: what is there once a burst, however few packets it has.
    once_cycles = FULL_BURST * min(cycles_at(0.5) - cycles_at(1.0), cycles_at(1.0))
    cycles = cycles_at(1.0) - once_cycles / FULL_BURST
    mhz = budget_hz(model, execution, area.core) / 1e6
    then: dict[str, float] = {}
    for taker, its_path in path.takers:
        name = _name(taker, its_path)
        then[name] = then.get(name, 0.0) + 1 / len(path.takers)
    generates = area.kind == "generator"
    return Queue(
        name=_name(area.name, index),
        core=area.core,
        service_us=cycles / mhz,
        outside=path.share if generates else 0.0,
        then=then,
        poll_us=EMPTY_POLL_CYCLES / mhz,
        burst_us=max(0.0, once_cycles - EMPTY_POLL_CYCLES) / mhz,
        source=generates,
        sink=area.kind == "receiver",
        places=path.places or None,
    )


def _name(area: str, path: int) -> str:
    """ "f1", "f1 path 2"."""
    return f"{area} path {path + 1}" if path else area
