# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.5: how long frames are still lost after an overload has ended. 26.6 as RFC 6201 has it: how
long frames are lost while something is reset, under load.

Both methods of RFC 6201, 1.3, of the same trials, and of the slower direction:

    frame loss:  lost frames / offered rate
    time stamps: first frame received after the reset - last frame received before it

The first counts every frame that was lost, before and after too; the second is the longest time without any,
so two interruptions behind each other show as a difference.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from weir.base.si import US_PER_S
from weir.measure.tester import Reset
from weir.measure.trial import PortGoneError
from weir.procedures.rfc2544.bench import Bench
from weir.protocol.traffic import Shape
from weir.results.result import Trial
from weir.results.rfc2544 import RecoveryTest, ResetTest

OVERLOAD_SHARE = 1.1  # of the throughput
CUT_SHARE = 0.5  # of the overload
# A loss so near the end of the trial says that it may go on.
UNRESOLVED_SHARE = 0.95
NOTHING = (
    "nothing that forwards here can be reset alone: tester and functions are one process, or the network "
    "card's. linux-bridge, ovs and ovs-dpdk have something"
)


def measure_recovery(bench: Bench, throughput_pps: float) -> RecoveryTest:
    """One trial: the overload, and half of it from then on, without a pause."""
    options = bench.options
    overload_pps = min(OVERLOAD_SHARE * throughput_pps, bench.reachable_pps)
    report = RecoveryTest(
        overload_pps=overload_pps, overload_s=options.overload_s, recovery_pps=CUT_SHARE * overload_pps
    )
    shape = Shape(then=((options.overload_s, CUT_SHARE),))
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
    last_s = max(
        (stream.gaps.last_lost_us / US_PER_S for stream in trial.streams if stream.gaps), default=0.0
    )
    return max(0.0, last_s - cut_s)


def measure_resets(bench: Bench, throughput_pps: float, resets: Sequence[Reset]) -> list[ResetTest]:
    """One record a kind of reset; one that says why if there is none."""
    if not resets:
        return [ResetTest(what=None, why=f"{NOTHING[0].upper()}{NOTHING[1:]}.")]
    return [_measured(bench, throughput_pps, one) for one in resets]


def _measured(bench: Bench, load_pps: float, reset: Reset) -> ResetTest:
    options = bench.options
    report = ResetTest(what=reset.what, clause=reset.clause, load_pps=load_pps)
    shape = Shape(meanwhile=reset.do, meanwhile_after_s=options.reset_after_s)
    whole_s = options.reset_after_s + options.reset_watch_s
    because = ""
    for number in range(options.reset_repeats):
        bench.phase("reset", number + 1, options.reset_repeats)
        try:
            trial = bench.runner.valid("reset", load_pps, whole_s, None, shape).trial
        except PortGoneError:
            because = (
                "The tester's port was not connected again at the end of the trial: raise reset_watch_s."
            )
            report.unresolved += 1
            continue
        if not trial.valid:
            because = trial.invalid_because[0]
            report.unresolved += 1
        elif recovery_s(trial, options.reset_after_s) > UNRESOLVED_SHARE * options.reset_watch_s:
            because = "Frames were lost to the end of the trial: raise reset_watch_s."
            report.unresolved += 1
        else:
            report.lost_frames.append(trial.offered - trial.delivered)
            report.by_loss_s.append(_by_loss_s(trial))
            report.by_timestamp_s.append(_by_timestamp_s(trial))
    if report.by_loss_s:
        report.loss_average_s = statistics.mean(report.by_loss_s)
        report.timestamp_average_s = statistics.mean(report.by_timestamp_s)
        if not any(report.lost_frames):
            report.why = "Nothing was lost: frames passed while it was reset."
    elif because:
        report.why = f"None of {report.unresolved} trials shows the end of the reset: {because}"
    return report


def _by_loss_s(trial: Trial) -> float:
    return max(
        (
            (stream.offered - stream.delivered) * trial.duration_s / stream.offered
            for stream in trial.streams
            if stream.offered
        ),
        default=0.0,
    )


def _by_timestamp_s(trial: Trial) -> float:
    return max((stream.gaps.longest_us / US_PER_S for stream in trial.streams if stream.gaps), default=0.0)
