# SPDX-License-Identifier: Apache-2.0
"""The traffic that reaches each queue, how much and how uneven, and the load of each core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from weir.lab.execution import FULL_BURST
from weir.planning.queueing.queue import Arrivals, Bursts, Queue, bursts

_SCV: Mapping[Arrivals, float] = {"constant": 0.0, "poisson": 1.0}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Flow:
    """What comes to one queue."""

    pps: float
    entering_pps: float
    """Of these, what the core itself did not put there."""
    scv: float
    """Of the time between two arrivals from elsewhere."""


@dataclass(frozen=True)
class Network:
    """Queues in polling order; each core's in the order in which it polls them."""

    queues: tuple[Queue, ...]
    by_name: Mapping[str, Queue]
    flows: Mapping[str, Flow]
    loads: Mapping[int, float]
    """Work that comes to each core, as a share of its time, with what bursts cost that are so long."""
    bursts: Bursts

    def each_us(self, queue: Queue) -> float:
        """What a packet costs there, with its part of what its burst does."""
        return queue.service_us + queue.burst_us / self.bursts.lengths[queue.name]

    def on(self, core: int) -> tuple[Queue, ...]:
        """The queues of one core."""
        return tuple(queue for queue in self.queues if queue.core == core)


def network(queues: Sequence[Queue], arrival_pps: float, arrivals: Arrivals) -> Network:
    """The network under that load. ValueError names the queue that is no part of a feed-forward network.

    Superposition, splitting and departures are those of the Queueing Network Analyzer (Whitt, Bell System
    Technical Journal 62(9), 1983, section 4); exact where all flows are Poisson, by Burke and Jackson.
    """
    by_name = {queue.name: queue for queue in queues}
    _require_sound(queues, by_name, arrival_pps)
    order = _order(by_name)
    pps, entering = _rates(order, by_name, arrival_pps)
    found = bursts([by_name[name] for name in order], pps, arrivals)
    loads = {queue.core: 0.0 for queue in queues}
    for queue in queues:
        loads[queue.core] += pps[queue.name] * (queue.service_us + queue.burst_us / FULL_BURST) / 1e6
    # Shorter bursts cost more, but never more than there is time: they grow before a core is full.
    loads |= {core: cycle.busy for core, cycle in found.cycles.items() if loads[core] < 1}
    scvs = _variability(order, by_name, pps, loads, outside=(arrival_pps, _SCV[arrivals]))
    flows = {name: Flow(pps[name], entering[name], scvs[name]) for name in order}
    return Network(tuple(queues), by_name, flows, loads, found)


def _require_sound(queues: Sequence[Queue], by_name: Mapping[str, Queue], arrival_pps: float) -> None:
    if arrival_pps <= 0:
        raise ValueError(f"a load of {arrival_pps:g} packets/s has no delay; give one above 0")
    if len(by_name) < len(queues):
        raise ValueError("two queues have one name")
    if sum(queue.outside for queue in queues) <= 0:
        raise ValueError("no packets come into the network")
    for queue in queues:
        unknown = sorted(set(queue.then) - set(by_name))
        if unknown:
            raise ValueError(f"{queue.name}: its packets go on to {unknown[0]}, which is no queue")
        if sum(queue.then.values()) > 1 + _ROUNDING or min(queue.then.values(), default=0) < 0:
            raise ValueError(f"{queue.name}: the probabilities of going on are not between 0 and 1 together")
        if queue.one_by_one and sum(other.core == queue.core for other in queues) > 1:
            raise ValueError(f"{queue.name}: packets go on one by one only from a queue alone on its core")


def _order(by_name: Mapping[str, Queue]) -> list[str]:
    before: dict[str, set[str]] = {name: set() for name in by_name}
    for queue in by_name.values():
        for name, probability in queue.then.items():
            if probability:
                before[name].add(queue.name)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError as error:
        raise ValueError(f"packets go round: {' to '.join(error.args[1])}") from None


def _rates(
    order: Sequence[str], by_name: Mapping[str, Queue], arrival_pps: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Packets/s to each queue: all, and those that another core or the outside put there."""
    pps = {name: by_name[name].outside * arrival_pps for name in order}
    entering = dict(pps)
    for name in order:
        for target, probability in by_name[name].then.items():
            pps[target] += probability * pps[name]
            if by_name[target].core != by_name[name].core:
                entering[target] += probability * pps[name]
    return pps, entering


def _variability(
    order: Sequence[str],
    by_name: Mapping[str, Queue],
    pps: Mapping[str, float],
    loads: Mapping[int, float],
    *,
    outside: tuple[float, float],
) -> dict[str, float]:
    """Squared coefficient of variation of the gaps between arrivals, queue by queue."""
    into: dict[str, list[tuple[float, float]]] = {name: [] for name in order}
    inside: dict[str, list[tuple[float, float]]] = {name: [] for name in order}
    found: dict[str, float] = {}
    for name in order:
        queue = by_name[name]
        if queue.outside:
            into[name].append((queue.outside * outside[0], outside[1]))
        found[name] = _merged(into[name] or inside[name], min(1.0, loads[queue.core]))
        left = _departing(found[name], queue, loads[queue.core])
        for target, probability in queue.then.items():
            amount = probability * pps[name]
            if amount:
                to = into if by_name[target].core != queue.core else inside
                to[target].append((amount, probability * left + 1 - probability))
    return found


def _departing(arrival_scv: float, queue: Queue, load: float) -> float:
    """Of the gaps between departures; of nearly constant service no less than a fifth.

    What a polling core gives on comes in bursts, but over its next core's cycles as uneven as it came.
    """
    if not queue.one_by_one:
        return arrival_scv
    busy = min(1.0, load) ** 2
    return 1 + (1 - busy) * (arrival_scv - 1) + busy * (max(queue.service_scv, 0.2) - 1)


def _merged(flows: Sequence[tuple[float, float]], load: float) -> float:
    """Of several flows, each with its rate: between the stationary-interval method and a Poisson process."""
    total = sum(rate for rate, _ in flows)
    if not total:
        return 1.0
    shares = [rate / total for rate, _ in flows]
    asymptotic = sum(share * scv for share, (_, scv) in zip(shares, flows, strict=True))
    alike = 1 / sum(share**2 for share in shares)
    weight = 1 / (1 + 4 * (1 - load) ** 2 * (alike - 1))
    return weight * asymptotic + 1 - weight
