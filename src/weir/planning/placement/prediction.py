# SPDX-License-Identifier: Apache-2.0
"""What a lab carries as it is placed, by the cost model: rates, and one-way delays at a load."""

from __future__ import annotations

import math
from dataclasses import replace

from weir import plan
from weir.base import packet_rate
from weir.lab import Chain, Lab
from weir.lab.execution import Execution
from weir.plan.execution import execution
from weir.planning.model.capacity import (
    CostModel,
    Prediction,
    as_slow_as_trials,
    predict_blind,
    typical,
)
from weir.planning.model.scaling import over_link, side_by_side
from weir.planning.queueing import DelayPrediction, execution_delay
from weir.results.prediction import LabPrediction, PredictedCore, PredictedDelay, PredictedQueue


def execution_of(lab: Lab, chain: Chain, frame: str, technology: str = "direct") -> Execution:
    """A chain's areas on their cores. PlanError for what the model cannot describe."""
    topology = plan.build_topology(lab, technology, chain, plan.deployment_id(lab.name, "00000000"))
    return execution(topology, lab, chain, frame)


UNTOLD_TIMES = 4.0
"""An interval this many times as high as low says next to nothing of the rate between."""


def _untold(rates: Prediction) -> tuple[str, ...]:
    times = rates.high_pps / rates.low_pps if rates.low_pps else math.inf
    if times < UNTOLD_TIMES:
        return ()
    return (
        f"The model does not tell: its interval is from {packet_rate.said(rates.low_pps)} to "
        f"{packet_rate.said(rates.high_pps)}. Calibrate it anew on a quieter machine, or with more trials.",
    )


def predicted(
    model: CostModel,
    lab: Lab,
    chain: Chain,
    one_set: Execution,
    *,
    sets: int = 1,
    link_bps: float | None = None,
    rate_pps: float | None = None,
) -> LabPrediction:
    """The rate of `sets` copies of a chain side by side, with the lab's first frame; and at `rate_pps`, of
    all sets together, the delay. `one_set`: one of them, with its share of the flows.

    UnknownCostError names functions that were never measured.
    """
    one = typical(model, one_set)
    every = side_by_side(predict_blind(model, one), sets)
    rates = over_link(every, link_bps, one.frame_bytes, len(lab.tester.directions))
    delay, notices = (
        (None, ())
        if rate_pps is None
        else _delay(model, lab, one, rate_pps, carried_pps=rates.pps, sets=sets)
    )
    return LabPrediction(
        chain=chain.name,
        frame=str(lab.traffic.frames[0]),
        flows=lab.traffic.flows.count,
        f=sets,
        pps=rates.pps,
        low_pps=rates.low_pps,
        high_pps=rates.high_pps,
        functions_pps=rates.functions_pps,
        limited_by=rates.limited_by,
        cores=[
            PredictedCore(
                core=load.core,
                cycles_per_packet=load.cycles,
                utilisation=load.utilisation,
                areas=dict(load.areas),
            )
            for load in rates.cores
        ],
        delay=delay,
        notices=[*_untold(rates), *rates.notices, *notices],
    )


def _delay(
    model: CostModel, lab: Lab, one: Execution, rate_pps: float, *, carried_pps: float, sets: int
) -> tuple[PredictedDelay | None, tuple[str, ...]]:
    """At that load, of which each set has its part, and what is to be said of it."""
    load = f"{rate_pps / 1e6:.10g} Mpps"
    if one.switched():
        return None, (f"No delay at {load}: what waits in a switch is not in the model.",)
    if rate_pps >= carried_pps:
        return None, (f"No delay at {load}: it carries {packet_rate.said(carried_pps)}.",)
    found = execution_delay(as_slow_as_trials(model), one, rate_pps / sets, lab.traffic.arrivals)
    return _document(found), (
        f"Delays at {load}, {lab.traffic.pacing} pacing, are of queues and bursts: what the host takes away "
        "comes on top, at P99 above all.",
        *found.limits,
    )


def _document(delay: DelayPrediction) -> PredictedDelay:
    return PredictedDelay(
        mean_us=delay.mean_us,
        p50_us=delay.p50_us,
        p90_us=delay.p90_us,
        p99_us=delay.p99_us,
        queues={
            name: PredictedQueue(delay_us=state.delay_us, packets=state.packets, loss_ratio=state.loss)
            for name, state in delay.queues.items()
        },
    )


def on_clock(model: CostModel, cpu_ghz: float | None) -> CostModel:
    """The model on cores of that clock; None: as it is."""
    return model if cpu_ghz is None else replace(model, hz=cpu_ghz * 1e9)
