# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.3: the share of frames lost at the maximum rate, and at loads below it, step by step, until
two successive trials lose nothing. 26.4 as RFC 9004 has it: the longest burst at the minimum gap that loses
nothing.

Each of N searches for a burst is a bisection between lengths (ETSI TST 009 12.3.2), in which a burst with
loss is sent again before it counts (12.3.3, loss verification). The corrected buffer time leaves out the
frames that the system under test forwarded while the burst came in:

    implied = average / R,  corrected = implied - implied x T / R        (RFC 9004, 6.4)

with R the maximum frame rate and T the throughput.
"""

from __future__ import annotations

import math
import statistics

from weir.procedures.rfc2544.bench import Bench
from weir.protocol.traffic import Shape
from weir.results.result import Trial
from weir.results.rfc2544 import BurstTest, LossStep, LossTest

LOSSLESS_TRIALS = 2
SPARE_TIMES = 2
"""Times the length of a burst that it may take, for a tester that is slower behind a switch; it ends with its
last frame."""
SPARE_S = 0.01


def measure_frame_loss(bench: Bench) -> LossTest:
    """From the maximum rate, or what of it the tester can do, down."""
    options = bench.options
    shares = loss_shares(options.loss_step, bench.reachable_pps / bench.maximum.pps)
    report = LossTest(trial_s=options.trial_s)
    lossless = 0
    for number, share in enumerate(shares):
        bench.phase("frame loss", number + 1, len(shares))
        load_pps = share * bench.maximum.pps
        trial = bench.runner.valid("frame-loss", load_pps, options.trial_s).trial
        report.steps.append(loss_step(share, load_pps, trial))
        lossless = lossless + 1 if trial.valid and trial.delivered == trial.offered else 0
        if lossless == LOSSLESS_TRIALS:
            report.complete = True
            break
    return report


def loss_step(share: float, load_pps: float, trial: Trial) -> LossStep:
    """What a trial at that share of the maximum rate says."""
    if not trial.valid:
        return LossStep(share=share, load_pps=load_pps, loss_ratio=None, why=trial.invalid_because[0])
    return LossStep(
        share=share,
        load_pps=load_pps,
        loss_ratio=trial.loss_ratio,
        left_out_share=trial.left_out_share,
        counted_loss_ratio=trial.counted_loss_ratio if trial.left_out_share else None,
    )


def loss_shares(step: float, highest: float) -> list[float]:
    """1, 1 - step, …, the last above 0; what is above `highest` is replaced by that, once."""
    count = math.ceil(round(1 / step, 9))
    wanted = [round(1 - index * step, 9) for index in range(count)]
    below = [share for share in wanted if share < highest]
    return below if len(below) == len(wanted) else [highest, *below]


def buffer_times_s(average_frames: float, max_rate_pps: float, throughput_pps: float) -> tuple[float, float]:
    """Implied and corrected (RFC 9004, 6.4). Rates are of one direction, as the frames are."""
    implied_s = average_frames / max_rate_pps
    return implied_s, implied_s - implied_s * throughput_pps / max_rate_pps


def measure_bursts(bench: Bench, throughput_pps: float | None) -> BurstTest:
    """`throughput_pps`: of all directions together; None: none was found."""
    options, directions = bench.options, bench.directions
    each_pps = bench.reachable_pps / directions
    report = BurstTest(
        limit_frames=max(2, round(options.burst_s * each_pps)),
        verifications=options.burst_verifications,
        throughput_pps=None if throughput_pps is None else throughput_pps / directions,
    )
    if throughput_pps is not None and throughput_pps >= bench.reachable_pps:
        report.why = _no_faster(bench)
        return report
    bursts = _Bursts(bench)
    for number in range(options.burst_repeats):
        bench.phase("back-to-back", number + 1, options.burst_repeats)
        longest, believed = bursts.longest(report.limit_frames)
        if longest is not None:
            report.longest_frames.append(longest)
            report.at_limit += longest == report.limit_frames
            report.unproven += not believed
    as_medium = bench.maximum.of == "medium" and bench.reachable_pps == bench.maximum.pps
    _summarise(report, bursts, each_pps if as_medium else bursts.rate_pps)
    return report


def _no_faster(bench: Bench) -> str:
    """Why no burst is sent, where none is faster than the throughput."""
    if bench.reachable_pps == bench.maximum.pps:
        return "The throughput is the maximum rate: no burst can fill a buffer (RFC 9004, 6.1)."
    limit = "the lab allows" if bench.reachable_pps == bench.allowed_pps else "the tester can do"
    return (
        f"The throughput is the highest rate that {limit}: bursts would be no faster, and fill no buffer "
        "(RFC 9004, 6.1)."
    )


def _summarise(report: BurstTest, bursts: _Bursts, max_rate_pps: float | None) -> None:
    found = report.longest_frames
    report.repeats = len(found)
    if not found:
        report.why = bursts.why or "No burst arrived whole."
        return
    report.average_frames = statistics.mean(found)
    report.min_frames, report.max_frames = min(found), max(found)
    report.step_frames = step_frames(bursts.bench, max(found))
    report.stdev_frames = statistics.stdev(found) if len(found) > 1 else None
    report.max_frame_rate_pps = max_rate_pps
    if report.throughput_pps is None:
        report.why = "Without a throughput there is no corrected buffer time."
    elif max_rate_pps:
        report.implied_s, report.corrected_s = buffer_times_s(
            report.average_frames, max_rate_pps, report.throughput_pps
        )
        if report.corrected_s <= 0:
            report.corrected_s = None
            report.why = "Bursts were sent no faster than the throughput: they filled no buffer."
    if report.at_limit:
        report.why = (
            f"{report.at_limit} of {report.repeats} searches ended at the longest burst allowed: the buffer "
            "may be larger; raise burst_s."
        )
    elif report.unproven:
        report.why = (
            f"{report.unproven} of {report.repeats} searches ended below a burst that could not be believed "
            f"({bursts.why}), not below one that lost frames: the buffer may be larger."
        )


def step_frames(bench: Bench, frames: int) -> int:
    """How close the bounds of a search around that burst must be."""
    return max(1, round(bench.options.burst_step * frames))


class _Bursts:
    """Sends bursts, and remembers how fast they went out."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._sent: list[float] = []  # frames a second of one direction
        self.why: str | None = None  # of the last burst that could not be used

    @property
    def rate_pps(self) -> float | None:
        """Median rate of the bursts, in one direction."""
        return statistics.median(self._sent) if self._sent else None

    def longest(self, limit: int) -> tuple[int | None, bool]:
        """The longest burst without loss, within `burst_step` of it, None if there is none; and whether the
        shortest that did not pass lost frames: else it could not be believed."""
        passed, failed = 0, limit
        whole = self._passes(limit)
        if whole:
            return limit, True
        while failed - passed > step_frames(self.bench, failed):
            middle = (passed + failed) // 2
            passes = self._passes(middle)
            if passes:
                passed = middle
            else:
                failed, whole = middle, passes
        return passed or None, whole is not None

    def _passes(self, frames: int) -> bool | None:
        """Whether one of some such bursts arrives whole; None: none did, and not all can be believed."""
        found = []
        for _ in range(1 + self.bench.options.burst_verifications):
            found.append(self._whole(frames))
            if found[-1]:
                return True
        return None if None in found else False

    def _whole(self, frames: int) -> bool | None:
        trial = self._send(frames)
        if not trial.valid:
            self.why = trial.invalid_because[0]
            return None
        if trial.offered == trial.intended and trial.duration_s > 0:
            self._sent.append(frames / trial.duration_s)
        return trial.delivered == trial.offered == trial.intended

    def _send(self, frames: int) -> Trial:
        bench = self.bench
        rate_pps, duration_s = bench.burst_pps, SPARE_TIMES * bench.options.burst_s + SPARE_S
        if rate_pps:
            duration_s = SPARE_TIMES * frames * bench.directions / rate_pps + SPARE_S
        return bench.runner.valid("burst", rate_pps, duration_s, None, Shape(packets=frames)).trial
