# SPDX-License-Identifier: Apache-2.0
"""NDR and PDR in one search, by the MLRsearch library (IETF draft-ietf-bmwg-mlrsearch).

Loads are packets a second over all directions together. A throughput is the *conditional throughput* of its
goal: the load of the relevant lower bound times the share delivered there. What the library does not know is
added here: invalid trials, time that does not count (`weir.measure.disturbance`), a slower state of the
machine, a tester too slow, a time limit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from MLRsearch import (  # type: ignore[import-untyped]
    AbstractMeasurer,
    Config,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

from weir.base.packet_rate import of_load
from weir.lab.measure import Goal, Measure
from weir.measure.trial import Outcome
from weir.results.result import Trial
from weir.results.trial import Purpose

# Trials count as this much longer than they are, so that five trials of 0.2 s are never a rounding error
# short of 1 s: the library would take the missing 1e-16 s for a trial that lost everything.
ROUNDING = 1 + 1e-9
DISTURBED_SHARE = 0.2
"""Of the time of a search's trials: with more left out its time limit is not the only reason."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GoalResult:
    """What one search says about one goal. Irregular when `load_pps` is None; `why` says why."""

    goal: Goal
    load_pps: float | None = None
    lower_pps: float | None = None
    upper_pps: float | None = None
    why: str | None = None
    unmeasured: bool = False
    """Irregular for want of time or of trials that can be believed: it says nothing of the system."""
    tester_limited: bool = False  # upper_pps was too much for the tester, not for the system under test
    out_of_time: bool = False
    """The bounds are further apart than was asked for."""
    slower_times: float | None = None
    """Where every trial at upper_pps that lost packets was in a slower state of the machine: how slow."""
    distances_cycles: Mapping[str, float] = field(default_factory=dict)
    """Of the cores, by core: of that trial at upper_pps that lost packets with the nearest ones."""
    left_out_share: float = 0.0
    """Of the time of the trials at both bounds, of an irregular one of all trials: not counted."""
    unsteady: bool = False
    """Each trial at upper_pps that lost packets lost them in pauses, or lost more than that load can be too
    much, as the lower one was carried."""


class Runner(Protocol):
    """What makes trials: `weir.measure.trial.TrialRunner`, or one that counts something else than packets."""

    def valid(self, purpose: Purpose, load_pps: float, duration_s: float, /) -> Outcome: ...


class _TimeUpError(Exception):
    """The deadline passed."""


class _Measurer(AbstractMeasurer):  # type: ignore[misc]
    """The library's measurer. Remembers what the library cannot: which loads failed for which reason."""

    def __init__(
        self,
        runner: Runner,
        measure: Measure,
        clock: Callable[[], float],
        deadline: float,
        unit: str,
    ) -> None:
        self.unit = unit
        self._runner = runner
        self._worst_goal = max(goal.loss_ratio for goal in measure.goals)
        self._clock = clock
        self._deadline = deadline
        self.too_fast: dict[float, str] = {}  # load → why the tester could not offer or receive it
        self.unbelievable: dict[float, str] = {}  # load → why its trials cannot be believed
        # Load, and whether packets were lost → how slow the machine was in all such trials, and the nearest
        # that the cores were in any.
        self.slower: dict[tuple[float, bool], float] = {}
        self.distances: dict[tuple[float, bool], Mapping[str, float]] = {}
        # Load → loss ratios of the trials there that lost packets; those that lost them in pauses: all.
        self.losses: dict[float, list[float]] = {}
        self.times_s: dict[float, tuple[float, float]] = {}  # load → of all trials there, and what counted

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """A valid trial; or, where none can be had, a result that every goal finds too bad."""
        slowest = min(self.too_fast, default=intended_load + 1)
        if intended_load in self.unbelievable or intended_load >= slowest:
            if intended_load not in self.unbelievable:
                self.too_fast[intended_load] = self.too_fast[slowest]
            count = max(2, int(intended_load * intended_duration))
            return MeasurementResult(
                intended_duration,
                intended_load,
                offered_count=count,
                loss_count=count,
                duration_with_overheads=intended_duration * ROUNDING,
            )
        if self._clock() >= self._deadline:
            raise _TimeUpError
        outcome = self._runner.valid("search", intended_load, intended_duration)
        trial = outcome.trial
        offered, lost = trial.counted_offered, trial.counted_lost
        self._note(intended_load, trial)
        if not trial.valid:
            believable = outcome.believable()
            reasons = self.too_fast if believable else self.unbelievable
            reasons[intended_load] = trial.invalid_because[0]
            offered = max(offered, 1)
            lost = max(lost, int(offered * self._worst_goal) + 1)
        return MeasurementResult(
            intended_duration,
            intended_load,
            offered_count=offered,
            loss_count=min(lost, offered),
            intended_count=offered,
            duration_with_overheads=intended_duration * ROUNDING,
        )

    def _note(self, load_pps: float, trial: Trial) -> None:
        """In which state of the machine it was, and how much of it counted."""
        if trial.counted is not None:
            whole_s, counted_s = self.times_s.get(load_pps, (0.0, 0.0))
            self.times_s[load_pps] = whole_s + trial.duration_s, counted_s + trial.counted.seconds
        if trial.counted_lost > 0:
            paused = trial.counted is not None and trial.counted.in_pauses
            self.losses.setdefault(load_pps, []).append(1.0 if paused else trial.counted_loss_ratio)
        place = load_pps, trial.counted_lost > 0
        slower = trial.slower_times or 1.0
        self.slower[place] = min(slower, self.slower.get(place, slower))
        self.distances[place] = min(
            (self.distances.get(place, trial.distances_cycles), trial.distances_cycles),
            key=lambda cycles: max(cycles.values(), default=0.0),
        )

    def deciding(self, lower_pps: float, upper_pps: float | None) -> tuple[float, bool]:
        """Whose state of the machine a rate between these loads rests on: of the trials that lost packets at
        the upper one; where the tester was the limit, of those that lost none at the lower one."""
        if upper_pps is None or upper_pps in self.too_fast or (upper_pps, True) not in self.slower:
            return lower_pps, False
        return upper_pps, True

    def unsteady(self, lower_pps: float, upper_pps: float, goal: Goal, width: float) -> bool:
        """Whether no trial at the upper load lost what a system loses that carries just less, as the goal has
        it: it, or the machine, was slower then."""
        most = 1 - (1 - goal.loss_ratio) * lower_pps / upper_pps + width
        return all(loss > most for loss in self.losses.get(upper_pps, [0.0]))

    def left_out_share(self, *loads_pps: float | None) -> float:
        """Of the time of all trials at these loads."""
        times = [self.times_s[load] for load in loads_pps if load in self.times_s]
        whole_s, counted_s = (sum(column) for column in zip(*times, strict=True)) if times else (0.0, 0.0)
        return max(0.0, 1 - counted_s / whole_s) if whole_s else 0.0

    def disturbed(self) -> str:
        """Another sentence, with a space before it, where others had so much of the trials' time that it took
        the search's; else nothing."""
        share = self.left_out_share(*self.times_s)
        if share < DISTURBED_SHARE and not self.unbelievable:
            return ""
        said = f" {share:.0%} of the trials' time was left out, since others had a core"
        if not self.unbelievable:
            return said + "."
        load_pps, why = list(self.unbelievable.items())[-1]
        return f"{said}; at {of_load(load_pps)} {self.unit} no trial could be believed: {why}"


def search(
    runner: Runner,
    measure: Measure,
    limits_pps: tuple[float, float],
    *,
    clock: Callable[[], float],
    deadline: float,
    unit: str = "pps",
) -> list[GoalResult]:
    """One search for all goals, between two loads. One GoalResult a goal, in the goals' order.

    Ends at `deadline` (of `clock`, seconds) with what is known then. `unit`: of loads, in words.
    Raises what the runner raises.
    """
    low, high = limits_pps
    wanted = {goal: _library_goal(goal, measure) for goal in measure.goals}
    config = Config()
    config.goals = tuple(wanted.values())
    config.min_load, config.max_load = low, high  # in this order: a high below the default low is refused
    config.search_duration_max = 1e9  # our deadline runs on our clock
    config.warmup_duration = None
    measurer = _Measurer(runner, measure, clock, deadline, unit)
    library = MultipleLossRatioSearch(config)
    time_up = False
    try:
        library.search(measurer, debug=_log.debug)
    except _TimeUpError:
        time_up = True
    return [_judge(goal, library, wanted[goal], measurer, time_up=time_up) for goal in measure.goals]


def _library_goal(goal: Goal, measure: Measure) -> SearchGoal:
    trial = measure.trial
    return SearchGoal(
        loss_ratio=goal.loss_ratio,
        exceed_ratio=measure.exceed_ratio,
        relative_width=measure.relative_width,
        initial_trial_duration=trial.initial_duration_s,
        final_trial_duration=trial.duration_s,
        duration_sum=trial.duration_sum_s,
        preceding_targets=2,
        expansion_coefficient=4,
        fail_fast=False,
    )


def _judge(
    goal: Goal, library: MultipleLossRatioSearch, wanted: SearchGoal, measurer: _Measurer, *, time_up: bool
) -> GoalResult:
    """The relevant bounds of one goal, read as a result or as the reason why there is none."""
    target = library.scaling.goal_to_final_target[wanted]
    bounds = library.database.get_relevant_bounds(target)
    lower_pps = float(bounds.clo) if bounds.clo else None
    upper_pps = float(bounds.chi) if bounds.chi else None
    of_all = measurer.left_out_share(*measurer.times_s)
    if lower_pps is None:
        lowest_pps = float(library.config.min_load)
        why = _nothing_carried(lowest_pps, upper_pps, measurer, time_up=time_up)
        unmeasured = time_up or upper_pps in measurer.unbelievable
        return GoalResult(
            goal,
            upper_pps=upper_pps,
            why=why,
            unmeasured=unmeasured,
            tester_limited=upper_pps in measurer.too_fast,
            left_out_share=of_all,
        )
    if upper_pps is None and time_up:
        carried = f"{of_load(lower_pps)} {measurer.unit}.{measurer.disturbed()}"
        why = f"The time limit came before a load was found too high for it; it carries {carried}"
        return GoalResult(goal, lower_pps=lower_pps, why=why, unmeasured=True, left_out_share=of_all)
    if upper_pps in measurer.unbelievable:
        reason = measurer.unbelievable[upper_pps]
        why = f"Above {of_load(lower_pps)} {measurer.unit} no trial could be believed: {reason}"
        return GoalResult(
            goal,
            lower_pps=lower_pps,
            upper_pps=upper_pps,
            why=why,
            unmeasured=True,
            left_out_share=of_all,
        )
    deciding = measurer.deciding(lower_pps, upper_pps)
    loss = bounds.clo.target_to_stat[target].pessimistic_loss_ratio
    return GoalResult(
        goal,
        load_pps=lower_pps * (1.0 - loss),
        lower_pps=lower_pps,
        upper_pps=upper_pps,
        why=_remark(lower_pps, upper_pps, measurer, wanted.relative_width if time_up else 1.0),
        tester_limited=upper_pps in measurer.too_fast,
        out_of_time=time_up and _apart(lower_pps, upper_pps, wanted.relative_width),
        slower_times=_slower(measurer.slower.get(deciding, 1.0)),
        distances_cycles=measurer.distances.get(deciding, {}),
        left_out_share=measurer.left_out_share(lower_pps, upper_pps),
        unsteady=deciding[1] and measurer.unsteady(lower_pps, deciding[0], goal, wanted.relative_width),
    )


def _apart(lower_pps: float, upper_pps: float | None, width: float) -> bool:
    return upper_pps is not None and upper_pps - lower_pps > upper_pps * width


def _slower(times: float) -> float | None:
    return times if times > 1 else None


def _nothing_carried(
    lowest_pps: float, upper_pps: float | None, measurer: _Measurer, *, time_up: bool
) -> str:
    """Why there is no lower bound."""
    lowest = f"Even at {of_load(lowest_pps)} {measurer.unit}"
    if time_up:
        return "The time limit came before any load was found that it carries." + measurer.disturbed()
    if upper_pps in measurer.unbelievable:
        return f"{lowest} no trial could be believed: {measurer.unbelievable[upper_pps]}"
    if upper_pps in measurer.too_fast:
        return f"{lowest} the tester was too slow: {measurer.too_fast[upper_pps]}"
    lost = "was lost or left in a queue" if measurer.unit == "pps" else "failed"
    return f"{lowest}, the lowest load tried, more {lost} than the goal allows."


def _remark(
    lower_pps: float, upper_pps: float | None, measurer: _Measurer, width_allowed: float
) -> str | None:
    """What a reader must know of a throughput that was found but not bracketed as asked."""
    if upper_pps is None:
        return f"It carries the highest load tried, {of_load(lower_pps)} {measurer.unit}."
    if upper_pps in measurer.too_fast:
        return measurer.too_fast[upper_pps]
    if _apart(lower_pps, upper_pps, width_allowed):
        return "The time limit came before the bounds were as close as asked."
    return None
