# SPDX-License-Identifier: Apache-2.0
"""A rate before anything is measured: the machine in the state that the calibration found it in.

A hypervisor moves cores, near and far, and slows them. What state a set-up will meet is not known: the rate
is that of the calibration's median state, and how much rates differ from one of its states to another is a
part of the interval.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np

from weir.lab.execution import Execution
from weir.planning.capacity import CostModel, Prediction, deviation, predict, rate_pps

STATES_MAX = 7
"""Distances of the cores that rates are predicted at; of more, so many quantiles."""


def typical(model: CostModel, execution: Execution) -> Execution:
    """The execution with its cores as far from each other as they were in the median; as it is where no
    distance was measured."""
    if not model.distances_cycles:
        return execution
    return replace(execution, core_distance_cycles=statistics.median(model.distances_cycles))


def predict_blind(model: CostModel, execution: Execution) -> Prediction:
    """The rate of `execution` by the calibration alone. ValueError names what was never measured."""
    execution = typical(model, execution)
    said = predict(model, execution)
    own = deviation(model, execution)
    low_pps, high_pps = model.blind.bounds(
        said.pps / model.slowed, math.hypot(own, state_deviation(model, execution))
    )
    return replace(
        said,
        pps=said.pps / model.slowed,
        low_pps=low_pps,
        high_pps=high_pps,
        functions_pps=said.functions_pps / model.slowed,
        naive_pps=said.naive_pps / model.slowed,
    )


def state_deviation(model: CostModel, execution: Execution) -> float:
    """Standard deviation of the rate over the calibration's states, as a share of it."""
    if len(execution.cores()) < 2 or len(model.distances_cycles) < 2:
        return 0.0
    found = np.array(model.distances_cycles)
    if len(found) > STATES_MAX:
        found = np.quantile(found, (np.arange(STATES_MAX) + 0.5) / STATES_MAX)
    rates = [rate_pps(model, replace(execution, core_distance_cycles=float(distance))) for distance in found]
    return float(np.std(np.log(rates)))
