# SPDX-License-Identifier: Apache-2.0
"""The tester measured alone, in loopback over the same kind of wire (rule 9 of docs/design/method.md).

The highest rate is the one that the tester both sends on time and receives; then the latency of a light load
is the floor below which no latency of a system under test can be seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from weir.lab.measure import Measure
from weir.measure.counting import Watched
from weir.measure.one_case import Event, PhaseStarted, TrialFinished
from weir.measure.tester import ANNOUNCE_FRAMES, Tester, Traffic, no_counters, resolution_ns
from weir.measure.trial import Outcome, TrialRunner
from weir.results.case import CEILING_STEP
from weir.results.result import Ceiling, Trial

# A ceiling is a rate that the tester reaches within this loss, so that one stall does not decide it.
LOSS_RATIO_MAX = 0.001
STEPS = 12
LIGHT_SHARE = 0.1
CLEAR_SHARE = 0.01  # of missing packets that a stall of the host does not explain


def ceilings(
    measure: Measure,
    traffic: Sequence[Traffic],
    tester: Tester,
    on_event: Callable[[Event], None],
    sleep: Callable[[float], None] = time.sleep,
    *,
    watched: Watched | None = None,
) -> dict[str, Ceiling]:
    """The ceiling for each frame. The tester's ports must be wired to each other and its loops be started.

    A frame whose rate cannot be measured (the tester loses packets even far below its own speed) has none.
    """
    found: dict[str, Ceiling] = {}
    tester.announce(ANNOUNCE_FRAMES)
    for one in traffic:
        on_event(PhaseStarted(one.frame, "calibrate"))
        tester.configure_traffic(one.config)
        runner = TrialRunner(
            tester,
            no_counters,
            one,
            options=measure.trial,
            on_trial=_reporter(one, on_event),
            sleep=sleep,
            watched=watched,
        )
        ceiling = _ceiling(runner, tester, measure.calibration.duration_s)
        if ceiling is not None:
            found[one.frame] = ceiling
    return found


def _reporter(traffic: Traffic, on_event: Callable[[Event], None]) -> Callable[[Trial], None]:
    return lambda trial: on_event(TrialFinished(traffic.frame, traffic.mean_frame_bytes, trial))


def _ceiling(runner: TrialRunner, tester: Tester, duration_s: float) -> Ceiling | None:
    flat_out = runner.run("calibration", 0, duration_s).trial
    rate_pps = min(flat_out.delivered, flat_out.offered) / max(flat_out.duration_s, 1e-9)
    limited_by = "receiving" if flat_out.loss_ratio > LOSS_RATIO_MAX else "sending"
    for _ in range(STEPS):
        if rate_pps < 1:
            return None
        outcome = runner.run("calibration", rate_pps, duration_s)
        if not _keeps_up(outcome) and _nearly(outcome):
            outcome = runner.run("calibration", rate_pps, duration_s)
        if _keeps_up(outcome):
            light = runner.valid("calibration", rate_pps * LIGHT_SHARE, duration_s).trial
            floors = [stream.latency.p50_us for stream in light.streams if stream.latency is not None]
            return Ceiling(
                max_pps=rate_pps,
                latency_floor_us=min(floors) if floors else None,
                timestamp_resolution_ns=resolution_ns(tester.ledger(), runner.traffic.streams),
                limited_by=f"The tester's own {limited_by}, in loopback without a system under test.",
            )
        rate_pps *= CEILING_STEP
    return None


def _keeps_up(outcome: Outcome) -> bool:
    return outcome.trial.valid and outcome.trial.counted_loss_ratio <= LOSS_RATIO_MAX


def _nearly(outcome: Outcome) -> bool:
    trial = outcome.trial
    missing = trial.counted_short + trial.counted_lost
    return missing <= CLEAR_SHARE * (trial.counted_offered + trial.counted_short) and trial.offered > 0
