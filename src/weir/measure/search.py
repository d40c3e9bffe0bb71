# SPDX-License-Identifier: Apache-2.0
"""NDR and PDR in one search, by the MLRsearch library (IETF draft-ietf-bmwg-mlrsearch).

Loads are packets a second over all directions together. A throughput is the *conditional throughput* of its
goal: the load of the relevant lower bound times the share delivered there. What the library does not know is
added here: invalid trials, loss during stalls (`weir.measure.stalls`), a tester too slow, a time limit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from MLRsearch import (  # type: ignore[import-untyped]
    AbstractMeasurer,
    Config,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

from weir.measure.stalls import explainable
from weir.measure.trial import Outcome, TrialRunner
from weir.spec.measure import Goal, Measure

# Trials count as this much longer than they are, so that five trials of 0.2 s are never a rounding error
# short of 1 s: the library would take the missing 1e-16 s for a trial that lost everything.
ROUNDING = 1 + 1e-9

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """What one search says about one goal. Irregular when `load_pps` is None; `why` says why."""

    goal: Goal
    load_pps: float | None = None
    lower_pps: float | None = None
    upper_pps: float | None = None
    why: str | None = None
    tester_limited: bool = False  # upper_pps was too much for the tester, not for the system under test
    stall_labelled: bool = False


class _TimeUpError(Exception):
    """The deadline passed."""


class _Measurer(AbstractMeasurer):  # type: ignore[misc]
    """The library's measurer. Remembers what the library cannot: which loads failed for which reason."""

    def __init__(
        self, runner: TrialRunner, measure: Measure, clock: Callable[[], float], deadline: float
    ) -> None:
        self._runner = runner
        self._stall_repeats = measure.trial.stall_repeats
        self._worst_goal = max(goal.loss_ratio for goal in measure.goals)
        self._clock = clock
        self._deadline = deadline
        self.too_fast: dict[float, str] = {}  # load → why the tester could not offer or receive it
        self.unbelievable: dict[float, str] = {}  # load → why its trials cannot be believed
        self.stalled: set[float] = set()  # loads where stalls could explain what a trial lost

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
        outcome = self._decided(intended_duration, intended_load)
        trial = outcome.trial
        lost = max(0, trial.offered - trial.delivered + trial.backlog)
        if not trial.valid:
            believable = not (outcome.has("accounting") or outcome.has("host"))
            reasons = self.too_fast if believable else self.unbelievable
            reasons[intended_load] = trial.invalid_because[0]
            lost = max(lost, int(trial.offered * self._worst_goal) + 1)
        return MeasurementResult(
            intended_duration,
            intended_load,
            offered_count=trial.offered,
            loss_count=min(lost, trial.offered),
            intended_count=trial.offered if trial.valid else max(trial.intended, trial.offered),
            duration_with_overheads=intended_duration * ROUNDING,
        )

    def _decided(self, duration_s: float, load_pps: float) -> Outcome:
        """A trial that the stall rule lets decide."""
        for _ in range(1 + self._stall_repeats):
            if self._clock() >= self._deadline:
                raise _TimeUpError
            outcome = self._runner.valid("search", load_pps, duration_s)
            if not explainable(outcome.trial):
                break
            self.stalled.add(load_pps)
        return outcome


def search(
    runner: TrialRunner,
    measure: Measure,
    limits_pps: tuple[float, float],
    *,
    clock: Callable[[], float],
    deadline: float,
) -> list[Found]:
    """One search for all goals, between two loads. One Found a goal, in the goals' order.

    Ends at `deadline` (of `clock`, seconds) with what is known then. Raises what the runner raises.
    """
    low, high = limits_pps
    wanted = {goal: _library_goal(goal, measure) for goal in measure.goals}
    config = Config()
    config.goals = tuple(wanted.values())
    config.min_load, config.max_load = low, high  # in this order: a high below the default low is refused
    config.search_duration_max = 1e9  # our deadline runs on our clock
    config.warmup_duration = None
    measurer = _Measurer(runner, measure, clock, deadline)
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
) -> Found:
    """The relevant bounds of one goal, read as a result or as the reason why there is none."""
    target = library.scaling.goal_to_final_target[wanted]
    bounds = library.database.get_relevant_bounds(target)
    lower_pps = float(bounds.clo) if bounds.clo else None
    upper_pps = float(bounds.chi) if bounds.chi else None
    if lower_pps is None:
        lowest_pps = float(library.config.min_load)
        why = _nothing_carried(lowest_pps, upper_pps, measurer, time_up=time_up)
        return Found(goal, upper_pps=upper_pps, why=why)
    if upper_pps is None and time_up:
        why = f"The time limit came before a load was found too high for it; it carries {lower_pps:,.0f} pps."
        return Found(goal, lower_pps=lower_pps, why=why)
    if upper_pps in measurer.unbelievable:
        why = f"Above {lower_pps:,.0f} pps no trial could be believed: {measurer.unbelievable[upper_pps]}"
        return Found(goal, lower_pps=lower_pps, upper_pps=upper_pps, why=why)
    loss = bounds.clo.target_to_stat[target].pessimistic_loss_ratio
    return Found(
        goal,
        load_pps=lower_pps * (1.0 - loss),
        lower_pps=lower_pps,
        upper_pps=upper_pps,
        why=_remark(lower_pps, upper_pps, measurer, wanted.relative_width if time_up else 1.0),
        tester_limited=upper_pps in measurer.too_fast,
        stall_labelled=bool({lower_pps, upper_pps} & measurer.stalled),
    )


def _nothing_carried(
    lowest_pps: float, upper_pps: float | None, measurer: _Measurer, *, time_up: bool
) -> str:
    """Why there is no lower bound."""
    if time_up:
        return "The time limit came before any load was found that it carries."
    if upper_pps in measurer.unbelievable:
        return f"Even at {lowest_pps:,.0f} pps no trial could be believed: {measurer.unbelievable[upper_pps]}"
    if upper_pps in measurer.too_fast:
        return f"Even at {lowest_pps:,.0f} pps the tester was too slow: {measurer.too_fast[upper_pps]}"
    return (
        f"Even at {lowest_pps:,.0f} pps, the lowest load tried, "
        "more was lost or left in a queue than the goal allows."
    )


def _remark(
    lower_pps: float, upper_pps: float | None, measurer: _Measurer, width_allowed: float
) -> str | None:
    """What a reader must know of a throughput that was found but not bracketed as asked."""
    if upper_pps is None:
        return f"It carries the highest load tried, {lower_pps:,.0f} pps."
    if upper_pps in measurer.too_fast:
        return measurer.too_fast[upper_pps]
    if upper_pps - lower_pps > upper_pps * width_allowed:
        return "The time limit came before the bounds were as close as asked."
    return None
