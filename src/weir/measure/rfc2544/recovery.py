# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.5: how long frames are still lost after an overload has ended."""

from __future__ import annotations

import statistics

from weir.measure.rfc2544.bench import Bench
from weir.protocol.traffic import Shape
from weir.results.result import Trial
from weir.results.rfc2544 import RecoveryTest

OVERLOAD_SHARE = 1.1  # of the throughput
CUT_SHARE = 0.5  # of the overload
# A loss so near the end of the trial says that it may go on.
UNRESOLVED_SHARE = 0.95


def measure_recovery(bench: Bench, throughput_pps: float) -> RecoveryTest:
    """One trial: the overload, and half of it from then on, without a pause."""
    options = bench.options
    overload_pps = min(OVERLOAD_SHARE * throughput_pps, bench.reachable_pps)
    report = RecoveryTest(
        overload_pps=overload_pps, overload_s=options.overload_s, recovery_pps=CUT_SHARE * overload_pps
    )
    shape = Shape(then_pps=bench.each(report.recovery_pps), then_after_s=options.overload_s)
    whole_s = options.overload_s + options.recovery_s
    overloaded = False
    for number in range(options.recovery_repeats):
        bench.phase("recovery", number + 1, options.recovery_repeats)
        trial = bench.runner.valid("recovery", overload_pps, whole_s, None, shape).trial
        overloaded |= trial.delivered < trial.offered
        time_s = recovery_s(trial, options.overload_s) if trial.valid else None
        if time_s is None or time_s > UNRESOLVED_SHARE * options.recovery_s:
            report.unresolved += 1
        else:
            report.times_s.append(time_s)
    if report.times_s:
        report.average_s = statistics.mean(report.times_s)
        if not overloaded:
            report.why = "The overload lost nothing, so there was nothing to recover from."
    else:
        report.why = f"All {report.unresolved} trials lost frames to their end, or were not valid."
    return report


def recovery_s(trial: Trial, cut_s: float) -> float:
    """From the cut until the last lost frame was sent, of the slower direction; 0: none was lost after it."""
    last_s = max((stream.gaps.last_lost_us / 1e6 for stream in trial.streams if stream.gaps), default=0.0)
    return max(0.0, last_s - cut_s)
