# SPDX-License-Identifier: Apache-2.0
"""The queues of a set-up, from its execution areas and the cost model of the machine."""

from __future__ import annotations

from dataclasses import replace

from weir.lab.execution import FULL_BURST, Area, AreaPath, Execution
from weir.planning.model.capacity import CostModel, budget_hz
from weir.planning.model.terms import SHORT_BURST, path_terms, state_bytes
from weir.planning.queueing.delay import DelayPrediction, delay
from weir.planning.queueing.queue import Arrivals, Queue

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
    """One for each path of each area, in the order in which each core polls them."""
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
