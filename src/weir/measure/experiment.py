# SPDX-License-Identifier: Apache-2.0
"""One built chain, measured: for each frame size a search, trials that confirm it, a curve (received against
offered, from a low load to overload), and delays at given loads.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.lab.measure import CurveOptions, Measure
from weir.lab.sla import Sla
from weir.measure.counting import Watched
from weir.measure.delay import delays
from weir.measure.events import Event, GoalFound, Phase, PhaseStarted, TrialFinished
from weir.measure.one_case import told
from weir.measure.outside import Outside
from weir.measure.repeats import goals_of, repeated, throughput
from weir.measure.service_level import judged
from weir.measure.tester import SutCounters, Tester, Traffic
from weir.measure.trial import TrialRunner
from weir.results.result import Case, Ceiling, DelayPoint, Throughput, Trial

if TYPE_CHECKING:
    from weir.measure.search import Found


TEACHING_FRAMES = 3
PROBE_S = 0.1  # shortest trial that says how fast the tester is on this chain


@dataclass(frozen=True)
class Time:
    """The clock that limits a search, and how to wait. Tests give a virtual one."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def measure_setup(
    measure: Measure,
    traffic: Sequence[Traffic],
    tester: Tester,
    *,
    counters: SutCounters,
    ceilings: Mapping[str, Ceiling],
    on_event: Callable[[Event], None],
    timing: Time | None = None,
    sla: Sla | None = None,
    outside: Outside | None = None,
    watched: Watched | None = None,
    **other: Any,
) -> Iterator[Case]:
    """Yields one finished Case for each of `traffic`, in order; store it before asking for the next.

    The chain must be deployed and weir-dp's loops started (`configure`, `start`). `ceilings` by frame, from
    `weir.measure.calibrate.ceilings`; a frame without one is measured, and its Case has none. A case that
    cannot be measured is yielded with `problem` set; a port that is gone ends the setup after that. So is one
    that Ctrl-C or an error of the tester ended, with the trials finished by then: the next step raises that
    KeyboardInterrupt or error. `watched`: what tells of disturbances. `on_event` is called from this thread,
    often: keep it quick. `other` is what only other procedures need, and is not looked at.
    """
    del other
    timing = timing or Time()
    tester.teach(TEACHING_FRAMES)
    for one in traffic:
        case = _OneFrame(
            measure,
            one,
            tester,
            counters=counters,
            ceiling=ceilings.get(one.frame),
            on_event=on_event,
            timing=timing,
            sla=sla,
            outside=outside,
            watched=watched,
        )
        if not (yield from told(case)):
            return


def _undisturbed_pps(probe: Trial) -> tuple[float, float]:
    """Offered and delivered in its slices, three quarters of the way up: not while a core was away."""
    if probe.slices is None:
        return probe.offered / probe.duration_s, probe.delivered / probe.duration_s
    lost = dict(probe.slices.lost)
    width_s = probe.slices.width_us / 1e6
    offered = sorted(probe.slices.offered)
    delivered = sorted(sent - lost.get(at, 0) for at, sent in enumerate(probe.slices.offered))
    place = 3 * len(offered) // 4
    return offered[place] / width_s, delivered[place] / width_s


class _OneFrame:
    """The case of one frame size while it is measured."""

    def __init__(
        self,
        measure: Measure,
        traffic: Traffic,
        tester: Tester,
        *,
        counters: SutCounters,
        ceiling: Ceiling | None,
        on_event: Callable[[Event], None],
        timing: Time,
        sla: Sla | None,
        outside: Outside | None,
        watched: Watched | None,
    ) -> None:
        self._measure = measure
        self._traffic = traffic
        self._tester = tester
        self._ceiling = ceiling
        self._on_event = on_event
        self._timing = timing
        self._sla = sla
        self._began_s = timing.clock()
        self._trials: list[Trial] = []
        self._curve: list[Trial] = []
        self._throughput: list[Throughput] = []
        self._delays: list[DelayPoint] = []
        self._problem: str | None = None
        self._runner = TrialRunner(
            tester,
            counters,
            traffic,
            options=measure.trial,
            on_trial=self._took,
            outside=outside,
            sleep=timing.sleep,
            watched=watched,
        )

    def measure(self) -> None:
        """Warm-up, searches, confirmation, curve. What is finished is kept when this raises."""
        self._tester.configure_traffic(self._traffic.config)
        limits_pps = self._limits_pps()
        if limits_pps is None:
            return
        if self._measure.goals:
            self._find(limits_pps)
        highest = max((one.load_pps for one in self._throughput if one.load_pps), default=None)
        loads = curve_loads_pps(self._measure.curve, highest, limits_pps[1])
        self._curve = curve(
            self._runner, self._measure.curve, loads, lambda step, steps: self._phase("curve", step, steps)
        )
        if self._measure.latency is not None:
            self._delays = delays(
                self._runner,
                self._measure.latency,
                self._throughput,
                mean_frame_bytes=self._traffic.mean_frame_bytes,
                on_point=lambda step, steps: self._phase("latency", step, steps),
                sleep=self._timing.sleep,
            )

    def _find(self, limits_pps: tuple[float, float]) -> None:
        """Searches for all goals, as often as the lab says, and confirms what they found."""
        deadline = self._timing.clock() + self._measure.time_limit_s
        rounds = repeated(
            lambda limits, number: self._search(limits, number, deadline),
            self._measure.repeats,
            limits_pps,
            lambda: self._timing.clock() >= deadline,
        )
        for goal, found in goals_of(self._measure, rounds):
            result = throughput(
                goal,
                found,
                self._traffic.mean_frame_bytes,
                ceiling=self._ceiling,
                capped=limits_pps[1] == self._measure.max_load_pps,
                shares_cores=self._tester.shares_cores,
            )
            self._throughput.append(self._confirmed(result))
            self._on_event(GoalFound(self._traffic.frame, self._throughput[-1]))

    def finished(self, problem: str | None = None) -> Case:
        """What has been measured. Trials of curve and delays are there only, except invalid ones repeated."""
        kept = [*self._curve, *(trial for point in self._delays for trial in point.trials)]
        return Case(
            frame=self._traffic.frame,
            mean_frame_bytes=self._traffic.mean_frame_bytes,
            ceiling=self._ceiling,
            clocks=self._runner.clocks(),
            throughput=self._throughput,
            curve=self._curve,
            trials=[trial for trial in self._trials if not any(trial is other for other in kept)],
            delays=self._delays,
            verdicts=judged(self._sla, self._throughput, self._delays) if self._sla else [],
            problem=problem or self._problem,
            seconds=self._timing.clock() - self._began_s,
        )

    def _took(self, trial: Trial) -> None:
        self._trials.append(trial)
        self._on_event(TrialFinished(self._traffic.frame, self._traffic.mean_frame_bytes, trial))

    def _phase(self, phase: Phase, step: int = 1, steps: int = 1) -> None:
        self._on_event(PhaseStarted(self._traffic.frame, phase, step, steps))

    def _limits_pps(self) -> tuple[float, float] | None:
        """Warms up as fast as the tester can, which also says up to which load a search makes sense."""
        self._phase("warm-up")
        probe = self._runner.once("calibration", 0, max(PROBE_S, self._measure.warm_up_s)).trial
        if not probe.offered:
            self._problem = "The tester could send nothing: look at the data plane's log."
            return None
        offered_pps, delivered_pps = _undisturbed_pps(probe)
        highest = offered_pps
        if self._ceiling is not None:
            highest = min(highest, max(self._ceiling.max_pps, 1.1 * delivered_pps))
        if self._measure.max_load_pps is not None:
            highest = min(highest, self._measure.max_load_pps)
        return self._measure.min_load * highest, highest

    def _search(self, limits_pps: tuple[float, float], number: int, deadline: float) -> list[Found]:
        from weir.measure.search import search  # its library inspects the stack: dear among imports

        self._phase("search", number, self._measure.repeats)
        return search(self._runner, self._measure, limits_pps, clock=self._timing.clock, deadline=deadline)

    def _confirmed(self, result: Throughput) -> Throughput:
        """The same with the loss ratio that trials at its lower bound show: the median of the valid ones."""
        if result.lower_bound_pps is None:
            return result
        losses: list[float] = []
        for number in range(1, self._measure.confirm_trials + 1):
            self._phase("confirm", number, self._measure.confirm_trials)
            trial = self._runner.valid(
                "confirm", result.lower_bound_pps, self._measure.trial.duration_s
            ).trial
            if trial.valid:
                losses.append(trial.counted_loss_ratio)
        return result.model_copy(update={"loss_ratio": statistics.median(losses)}) if losses else result


def curve_loads_pps(options: CurveOptions, throughput_pps: float | None, highest_pps: float) -> list[float]:
    """Loads of the curve, evenly spaced: up to `beyond` x the throughput, but never above `highest_pps`."""
    if not options.points:
        return []
    last = min(highest_pps, options.beyond * throughput_pps) if throughput_pps else highest_pps
    if options.points == 1:
        return [last]
    first = options.lowest * last
    step = (last - first) / (options.points - 1)
    return [first + step * index for index in range(options.points)]


def curve(
    runner: TrialRunner, options: CurveOptions, loads_pps: list[float], on_point: Callable[[int, int], None]
) -> list[Trial]:
    """One trial a load, repeated while invalid; one that stays invalid is in the curve as such."""
    points: list[Trial] = []
    for index, load_pps in enumerate(loads_pps):
        on_point(index + 1, len(loads_pps))
        points.append(runner.valid("curve", load_pps, options.duration_s).trial)
    return points
