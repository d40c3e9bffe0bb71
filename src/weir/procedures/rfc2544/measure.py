# SPDX-License-Identifier: Apache-2.0
"""The procedures on one built chain: for each frame size one Case; and about how long they take, since an RFC
2544 run is hours, and nobody should learn that afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from weir.base.si import MS_PER_S
from weir.lab.measure import Measure
from weir.lab.rfc2544 import Rfc2544Options
from weir.measure.one_case import GoalFound, OnChain, OneCase, measured
from weir.measure.tester import ANNOUNCE_FRAMES, Traffic
from weir.measure.validity import sent_all
from weir.procedures.rfc2544.bench import Bench, Maximum, RestingRunner, medium_pps
from weir.procedures.rfc2544.conformance import deviations
from weir.procedures.rfc2544.loss import measure_bursts, measure_frame_loss
from weir.procedures.rfc2544.recovery import measure_recovery, measure_resets
from weir.procedures.rfc2544.throughput import find_throughput, measure_latency
from weir.results.result import Case
from weir.results.rfc2544 import Rfc2544


def measure_rfc2544(measure: Measure, traffic: Sequence[Traffic], chain: OnChain) -> Iterator[Case]:
    """As `weir.measure.measure_setup`, with the procedures of `measure.rfc2544` in place of searches."""
    frames = tuple(each.frame for each in traffic)
    for one in traffic:
        chain.tester.announce(ANNOUNCE_FRAMES)
        if not (yield from measured(_OneFrame(measure, one, chain, frames))):
            return


class _OneFrame(OneCase):
    """The tests that the options name, in the RFC's order."""

    runner: RestingRunner

    def __init__(self, measure: Measure, traffic: Traffic, chain: OnChain, frames: tuple[str, ...]) -> None:
        super().__init__(traffic, chain)
        self._measure = measure
        self._frames = frames
        self._options: Rfc2544Options = measure.rfc2544
        self._report: Rfc2544 | None = None
        self.runner = RestingRunner(
            chain.tester,
            chain.counters,
            traffic,
            options=measure.trial.model_copy(update={"drain_ms": self._options.residual_s * MS_PER_S}),
            on_trial=self.took,
            sleep=chain.timing.sleep,
            watched=chain.watched,
        )

    def measure(self) -> None:
        """The tests in the RFC's order: each needs those before it. What is finished is kept."""
        self.chain.tester.configure_traffic(self.traffic.config)
        bench = self._bench()
        if bench is None:
            return
        wanted = self._options.tests
        report = self._report = Rfc2544(
            tests=list(wanted),
            max_pps=bench.maximum.pps,
            max_is=bench.maximum.of,
            link_bps=self._options.link,
        )
        try:
            self._run(bench, report)
        finally:
            report.deviations = deviations(bench, report)

    def _run(self, bench: Bench, report: Rfc2544) -> None:
        wanted = self._options.tests
        if _needs_throughput(wanted, resettable=bool(self.chain.resets)):
            for by in self._options.search:
                self.throughput.append(find_throughput(bench, by, self._measure))
                self.chain.on_event(GoalFound(self.traffic.frame, self.throughput[-1]))
        load_pps = self.throughput[0].load_pps if self.throughput else None
        if "latency" in wanted and load_pps is not None:
            report.latency = measure_latency(bench, load_pps)
        if "frame-loss" in wanted:
            report.frame_loss = measure_frame_loss(bench)
        if "back-to-back" in wanted:
            self.runner.rest_s = self._options.burst_rest_s
            report.back_to_back = measure_bursts(bench, load_pps)
            self.runner.rest_s = self._options.restabilise_s
        if "recovery" in wanted and load_pps is not None:
            report.recovery = measure_recovery(bench, load_pps)
        if "reset" in wanted and (load_pps is not None or not self.chain.resets):
            report.resets = measure_resets(bench, load_pps or 0.0, self.chain.resets)

    def _bench(self) -> Bench | None:
        """After a warm-up as fast as the tester can, and the lab allows; None if it can send nothing."""
        allowed_pps = self._measure.allowed_pps
        probe = self.warm_up(self._measure.warm_up_s, allowed_pps, allowed_pps)
        if probe is None:
            return None
        self.runner.rest_s = self._options.restabilise_s
        directions = len(self.traffic.streams)
        if self._options.link is not None:
            pps = medium_pps(self._options.link, self.traffic.mean_frame_bytes, directions)
            maximum = Maximum(pps, "medium")
        elif self.ceiling is not None:
            maximum = Maximum(self.ceiling.max_pps, "tester")
        elif math.isfinite(allowed_pps) and sent_all(probe):
            maximum = Maximum(allowed_pps, "lab")
        else:
            maximum = Maximum(probe.offered / probe.duration_s, "tester")
        return Bench(
            runner=self.runner,
            options=self._options,
            frames=self._frames,
            maximum=maximum,
            ceiling=self.ceiling,
            allowed_pps=allowed_pps,
            shares_cores=self.chain.tester.shares_cores,
            phase=self.phase,
            clock=self.chain.timing.clock,
        )

    def found(self) -> dict[str, Any]:
        """The tests' report."""
        return {"rfc2544": self._report}


def _needs_throughput(tests: Sequence[str], *, resettable: bool) -> bool:
    without = {"frame-loss"} if resettable else {"frame-loss", "reset"}
    return not set(tests) <= without


SEARCH_TRIALS = 12
LOSS_TRIALS = 8


def expected_s(options: Rfc2544Options, frames: int, resettable: Sequence[bool]) -> float:
    """Seconds for so many frame sizes on each of some chains. `resettable`: of each, whether something of it
    can be reset."""
    rest_s = options.restabilise_s
    burst_trials = 1 + math.ceil(math.log2(1 / options.burst_step)) * (1 + options.burst_verifications / 2)
    each = {
        "throughput": len(options.search) * SEARCH_TRIALS * (options.trial_s + rest_s),
        "latency": options.latency_repeats * (options.latency_s + rest_s),
        "frame-loss": min(LOSS_TRIALS, math.ceil(1 / options.loss_step)) * (options.trial_s + rest_s),
        "back-to-back": options.burst_repeats * burst_trials * (options.burst_s / 2 + options.burst_rest_s),
        "recovery": options.recovery_repeats * (options.overload_s + options.recovery_s + rest_s),
        "reset": options.reset_repeats * (options.reset_after_s + options.reset_watch_s + rest_s),
    }

    def of_one(*, resettable: bool) -> float:
        needed = set(options.tests) - (set() if resettable else {"reset"})
        needed |= {"throughput"} if _needs_throughput(options.tests, resettable=resettable) else set()
        return sum(seconds for test, seconds in each.items() if test in needed)

    return frames * sum(of_one(resettable=one) for one in resettable)
