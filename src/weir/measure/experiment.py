# SPDX-License-Identifier: Apache-2.0
"""One built chain, measured: for each frame size a search, trials that confirm it, a curve (received against
offered, from a low load to overload), and delays at given loads.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from weir.base.si import US_PER_S
from weir.base.words import counted
from weir.lab.measure import CurveOptions, Measure
from weir.measure.captured_rate import of_what_was_sent
from weir.measure.delay import delays
from weir.measure.one_case import GoalFound, OnChain, OneCase, measured
from weir.measure.preflight import most_beside_trials_pps, warm_up_pps, where_dropped
from weir.measure.repeats import goals_of, repeated, throughput
from weir.measure.service_level import service_level_verdicts
from weir.measure.tester import ANNOUNCE_FRAMES, Traffic
from weir.measure.trial import LEDGERED, LEDGERED_OF_LOADS, TrialRunner
from weir.measure.validity import sent_all
from weir.results.result import Case, DelayPoint, Throughput, Trial

if TYPE_CHECKING:
    from weir.measure.search import GoalResult


def measure_setup(measure: Measure, traffic: Sequence[Traffic], chain: OnChain) -> Iterator[Case]:
    """Yields one finished Case for each of `traffic`, in order; store it before asking for the next.

    The chain must be deployed and weir-dp's loops started (`configure`, `start`). A case that cannot be
    measured is yielded with `problem` set; a port that is gone ends the setup after that. So is one that
    Ctrl-C or an error of the tester ended, with the trials finished by then: the next step raises that
    KeyboardInterrupt or error.
    """
    chain.tester.announce(ANNOUNCE_FRAMES)
    for one in traffic:
        if not (yield from measured(SearchedCase(measure, one, chain))):
            return


def undisturbed_pps(probe: Trial) -> tuple[float, float]:
    """Offered and delivered in its slices in which anything was sent, three quarters of the way up: not while
    a core was away, if that was for nearly all of the time."""
    if probe.slices is None:
        return probe.offered / probe.duration_s, probe.delivered / probe.duration_s
    lost = dict(probe.slices.lost)
    width_s = probe.slices.width_us / US_PER_S
    sent = {at: packets for at, packets in enumerate(probe.slices.offered) if packets}
    offered = sorted(sent.values())
    delivered = sorted(packets - lost.get(at, 0) for at, packets in sent.items())
    place = 3 * len(offered) // 4
    return offered[place] / width_s, delivered[place] / width_s


ABOVE_SENT = 1.1
SLOW_SHARE = 0.1
"""Of the highest load: a system of which less comes through is searched from a share of that."""
PACKETS_MIN = 100
"""In a trial that a rate rests on: of fewer, none may be lost by chance where many are."""
SILENT_TRIALS = 3
"""So many, one after the other, in which nothing came through: no machine takes all of each away."""
POINTS_IN_VAIN = 3
"""Of the curve, after a search that found nothing: where others have the cores no other point will do."""


class SearchedCase(OneCase):
    """A search, trials that confirm it, a curve, and delays."""

    def __init__(self, measure: Measure, traffic: Traffic, chain: OnChain) -> None:
        super().__init__(traffic, chain)
        self._measure = measure
        self.highest_pps = math.inf
        """Of what it sends itself, if a subclass knows that far less is carried."""
        self._curve: list[Trial] = []
        self._delays: list[DelayPoint] = []
        self.runner = TrialRunner(
            chain.tester,
            chain.counters,
            traffic,
            options=measure.trial,
            on_trial=self.took,
            outside=chain.outside,
            sleep=chain.timing.sleep,
            watched=chain.watched,
            ledgered=LEDGERED if measure.goals else LEDGERED_OF_LOADS,
        )

    def measure(self) -> None:
        """Warm-up, searches, confirmation, curve. What is finished is kept when this raises."""
        self.chain.tester.configure_traffic(self.traffic.config)
        limits_pps = self._limits_pps()
        if limits_pps is None:
            return
        if self._measure.goals:
            self._find(limits_pps)
        highest = max((one.load_pps for one in self.throughput if one.load_pps), default=None)
        loads = curve_loads_pps(self._measure.curve, highest, limits_pps[1])
        self._curve = curve(
            self.runner,
            self._measure.curve,
            loads,
            lambda step, steps: self.phase("curve", step, steps),
            give_up=bool(self._measure.goals) and highest is None,
        )
        if self._measure.latency is not None:
            self._delays = delays(
                self.runner,
                self._measure.latency,
                self.throughput,
                mean_frame_bytes=self.traffic.mean_frame_bytes,
                on_point=lambda step, steps: self.phase("latency", step, steps),
                sleep=self.chain.timing.sleep,
            )

    def _find(self, limits_pps: tuple[float, float]) -> None:
        """Searches for all goals, as often as the lab says, and confirms what they found."""
        deadline = self.chain.timing.clock() + self._measure.time_limit_s
        rounds = repeated(
            lambda limits, number: self._search(limits, number, deadline),
            self._measure.repeats,
            limits_pps,
            lambda: self.chain.timing.clock() >= deadline,
        )
        for goal, found in goals_of(self._measure, rounds):
            result = throughput(
                goal,
                found,
                self.traffic.mean_frame_bytes,
                ceiling=self.ceiling,
                highest_by="lab" if limits_pps[1] == self._measure.allowed_pps else "tester",
                shares_cores=self.chain.tester.shares_cores,
            )
            confirmed = self._confirmed(self._with_places(result))
            self.throughput.append(of_what_was_sent(confirmed, self.trials, self.traffic.captured))
            self.chain.on_event(GoalFound(self.traffic.frame, self.throughput[-1]))

    def found(self) -> dict[str, Any]:
        """Trials of curve and delays are there only, except invalid ones repeated."""
        loads = self._measure.latency.all_loads if self._measure.latency is not None else ()
        kept = [*self._curve, *(trial for point in self._delays for trial in point.trials)]
        return {
            "curve": self._curve,
            "trials": [trial for trial in self.trials if not any(trial is other for other in kept)],
            "delays": self._delays,
            "verdicts": service_level_verdicts(self.chain.sla, self.throughput, self._delays, loads)
            if self.chain.sla
            else [],
        }

    def _limits_pps(self) -> tuple[float, float] | None:
        """Warms up, which also says up to which load a search makes sense."""
        measure = self._measure
        frame_bytes = self.traffic.mean_frame_bytes
        load_pps = min(warm_up_pps(measure, frame_bytes), self.highest_pps)
        most_pps = min(most_beside_trials_pps(measure, frame_bytes), self.highest_pps)
        probe = self.warm_up(measure.warm_up_s, load_pps, most_pps)
        if probe is None:
            return None
        offered_pps, delivered_pps = undisturbed_pps(probe)
        if math.isfinite(load_pps) and sent_all(probe):
            offered_pps = max(offered_pps, load_pps)  # all of it, whatever part of that a slice has
        # What forwards in the sender's system calls keeps it from sending more: the limit is the system's,
        # and only a load above it shows that.
        highest = offered_pps * (ABOVE_SENT if self.chain.tester.shares_cores else 1)
        if self.ceiling is not None:
            highest = min(highest, max(self.ceiling.max_pps, 1.1 * delivered_pps))
        highest = min(highest, measure.allowed_pps, self.highest_pps)
        # What came through tells how slow a system is beside the tester; queues that were full are in it.
        came_pps = max(1, probe.delivered) / probe.duration_s
        lowest = measure.min_load * highest
        if came_pps < SLOW_SHARE * highest:
            enough_pps = PACKETS_MIN / measure.trial.duration_s
            lowest = min(lowest, max(measure.min_load * came_pps, enough_pps))
        return lowest, highest

    def _search(self, limits_pps: tuple[float, float], number: int, deadline: float) -> list[GoalResult]:
        from weir.measure.search import search  # its library inspects the stack: dear among imports

        self.phase("search", number, self._measure.repeats)
        measure = self._measure
        if self.traffic.recorded:  # a shorter piece of the file has another rate
            trial = measure.trial.model_copy(update={"initial_duration_s": measure.trial.duration_s})
            measure = measure.model_copy(update={"trial": trial})
        return search(self.runner, measure, limits_pps, clock=self.chain.timing.clock, deadline=deadline)

    def _with_places(self, result: Throughput) -> Throughput:
        """Where packets were dropped at the lowest load, if that was too much for the system under test."""
        tried = [one for one in self.trials if one.purpose == "search" and one.valid and one.drops]
        lowest = min(tried, key=lambda one: one.intended_load_pps, default=None)
        if result.load_pps is not None or result.upper_bound_pps is None or lowest is None:
            return result
        why = f"{result.why} Packets dropped there: {where_dropped(lowest.drops)}."
        return result.model_copy(update={"why": why})

    def _confirmed(self, result: Throughput) -> Throughput:
        """The same with the loss ratio that trials at its lower bound show: the median of the valid ones."""
        if result.lower_bound_pps is None:
            return result
        losses: list[float] = []
        before = len(self.trials)
        for number in range(1, self._measure.confirm_trials + 1):
            self.phase("confirm", number, self._measure.confirm_trials)
            trial = self.runner.valid("confirm", result.lower_bound_pps, self._measure.trial.duration_s).trial
            if trial.valid:
                losses.append(trial.counted_loss_ratio)
        silent = _silent_at_last(self.trials[before:])
        if silent:
            return _stopped(result, silent)
        return result.model_copy(update={"loss_ratio": statistics.median(losses)}) if losses else result


def _silent_at_last(trials: Sequence[Trial]) -> int:
    """The trials at the end of which nothing came through, none or several: one alone may be a core that was
    away for as long as it lasted, which a valid one is not."""
    last = list(takewhile(lambda trial: trial.offered and not trial.delivered, reversed(trials)))
    return len(last) if len(last) >= SILENT_TRIALS or any(trial.valid for trial in last) else 0


def _stopped(result: Throughput, silent: int) -> Throughput:
    """What was found is no rate of a system that carries nothing any more."""
    found = f"{result.load_pps or 0.0:,.0f} packets a second"
    why = (
        f"A search found {found}, and then nothing came through: the last {counted(silent, 'trial')} of that "
        "load delivered none. What forwards has stopped, or its link has."
    )
    return Throughput(
        goal=result.goal,
        goal_loss_ratio=result.goal_loss_ratio,
        status="irregular",
        why=why,
        repeats=result.searches,
        searches=result.searches,
        left_out_share=result.left_out_share,
        loss_ratio=1.0,
    )


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
    runner: TrialRunner,
    options: CurveOptions,
    loads_pps: list[float],
    on_point: Callable[[int, int], None],
    *,
    give_up: bool = False,
) -> list[Trial]:
    """One trial a load, repeated while invalid; one that stays invalid is in the curve as such. `give_up`: it
    ends where none of the first few is valid."""
    points: list[Trial] = []
    for index, load_pps in enumerate(loads_pps):
        if give_up and index == POINTS_IN_VAIN and not any(point.valid for point in points):
            break
        on_point(index + 1, len(loads_pps))
        points.append(runner.valid("curve", load_pps, options.duration_s).trial)
    return points
