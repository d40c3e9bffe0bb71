# SPDX-License-Identifier: Apache-2.0
"""About how long a case will take, from the lab's own options."""

from __future__ import annotations

import math

from weir.lab.measure import Measure
from weir.measure.preflight import PACKETS_LEAST, warm_up_pps

LOADS_TRIED = 8
"""Of a search for the region."""
DECIDING_FEWEST, DECIDING_MOST = 1, 4
"""Loads of each goal that are tried until they are decided: of a steady system one; twice the bounds."""
TRIAL_TAKES_S = 0.1
BUILDING_S = 3.0


def least_s(measure: Measure) -> float:
    """For how long a case sends at loads that are given; 0 where rates are searched for, of which none may be
    found."""
    if measure.goals:
        return 0.0
    seconds, latency = measure.curve.points * measure.curve.duration_s, measure.latency
    if latency is not None:
        seconds += len(latency.all_loads) * latency.repeats * (latency.settle_s + latency.duration_s)
    return seconds


def expected_s(
    measure: Measure,
    deciding_loads: int = DECIDING_MOST,
    *,
    mean_frame_bytes: float = 64.0,
    streams: int = 2,
) -> float:
    """About how long a case takes on a quiet machine. A disturbed one repeats and lengthens trials.
    `streams`: that share the loads; they and the frames tell how long a small one takes to be known."""
    trial, curve, latency = measure.trial, measure.curve, measure.latency
    around_s = TRIAL_TAKES_S + trial.drain_ms / 1e3
    deciding = math.ceil(trial.duration_sum_s / trial.duration_s)
    search_s = LOADS_TRIED * (trial.initial_duration_s + around_s)
    search_s += len(measure.goals) * deciding_loads * deciding * (trial.duration_s + around_s)
    warm_up_s, load_pps = measure.warm_up_s, warm_up_pps(measure, mean_frame_bytes)
    if math.isfinite(load_pps):
        warm_up_s = max(warm_up_s, PACKETS_LEAST * streams / load_pps)
    seconds = BUILDING_S + warm_up_s + curve.points * (curve.duration_s + around_s)
    if measure.goals:
        seconds += min(measure.time_limit_s, measure.repeats * search_s)
        seconds += len(measure.goals) * measure.confirm_trials * (trial.duration_s + around_s)
    if latency is not None:
        trials = len(latency.all_loads) * latency.repeats
        seconds += trials * (latency.settle_s + latency.duration_s + around_s)
        seconds += trials * latency.idle_s if latency.first_packets else 0.0
    return seconds
