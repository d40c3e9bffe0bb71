# SPDX-License-Identifier: Apache-2.0
"""What a packet costs, in cycles of the time-stamp counter for each that the tester sent.

Of the trials that confirm a rate, since the cost depends on the load; each round has a median of its own, so
that rounds compare in pairs.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weir.lab.execution import FUNCTION_KINDS, TESTER_KINDS
from weir.report import numbers
from weir.report.rates import SIGNS, Bound, Ratio
from weir.results.loads import POLLS_RATIO
from weir.results.result import AreaLoad, Case, Trial

GUEST = "guest"
"""A kind of areas, as results call them."""
SMALL_RATIO = 0.1
"""Of what all programs have: threads below it are not looked at."""

AT_MOST = "≤: a program that polls, or may, has all of its time in it."

Of = Callable[[Trial], int | None]


@dataclass(frozen=True)
class Cost:
    """Cycles for each packet."""

    by_round: dict[int, float]
    """Median of the round's trials."""
    trials: int
    at_most: bool = False
    """A program that polls has the whole of its time in it, or nobody can tell whether it does."""

    @property
    def cycles(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.by_round.values())

    @property
    def bound(self) -> Bound:
        """As of ratios."""
        return "<=" if self.at_most else "="


def said(cost: Cost | None) -> str:
    """ "1,234", "≤1,234"; a dash where nothing is known."""
    return numbers.NONE if cost is None else f"{SIGNS[cost.bound]}{cost.cycles:,.0f}"


def in_functions(trial: Trial) -> int | None:
    """Of what functions do with packets, and of the fast path in their place; None: nothing of them is
    known, as of functions outside weir-dp. Hardly any of it is time in which somebody else had the core."""
    ours = (area for area in trial.areas if area.kind in FUNCTION_KINDS)  # the kernel has stages by stacks
    paths = [path for area in ours for path in area.paths if path.stages]
    if not paths:
        return None
    return sum(path.fastpath_cycles + sum(stage.cycles for stage in path.stages) for path in paths)


def in_threads(trial: Trial) -> int | None:
    """Of the threads that are the functions': weir-dp's areas, programs, containers and virtual machines,
    with what they read and write ports in, and without the kernel's receive path in their system calls.
    None: they have none, as Linux."""
    return _own(area for area in trial.areas if area.kind in (*FUNCTION_KINDS, GUEST))


def on_the_way(trial: Trial) -> int | None:
    """Of all that a packet passes but the tester: functions, ports, rings between areas, switch and
    kernel, each once; and of whoever had a core while it handled packets."""
    return _own(area for area in trial.areas if area.kind not in TESTER_KINDS)


def _own(areas: Iterable[AreaLoad]) -> int | None:
    found = [area.own_cycles for area in areas]
    return sum(found) if found else None


def cost(case: Case, of: Of, goal: str) -> Cost | None:
    """For each packet of the valid trials that confirm that goal's rate; None where nothing is known."""
    by_round: dict[int, list[float]] = {}
    confirming: list[Trial] = []
    rounds = [(one.round, one.throughput) for one in case.rounds] or [(case.round, case.throughput)]
    for place, ((number, found), trials) in enumerate(zip(rounds, case.trials_of_rounds, strict=True)):
        loads_pps = {one.lower_bound_pps for one in found if one.goal == goal}
        at_it = (one for one in trials if one.purpose == "confirm" and one.intended_load_pps in loads_pps)
        valid = [one for one in at_it if one.valid and one.offered]
        told = [(of(trial), trial.offered) for trial in valid]
        known = [cycles / packets for cycles, packets in told if cycles is not None]
        if 2 * len(known) > len(valid):  # what ran in one of them by chance is none of the functions'
            by_round[place if number is None else number] = known
            confirming += valid
    if not by_round:
        return None
    medians = {number: statistics.median(some) for number, some in by_round.items()}
    at_most = of is not in_functions and _may_poll(case, confirming)
    return Cost(medians, sum(map(len, by_round.values())), at_most)


def _may_poll(case: Case, confirming: list[Trial]) -> bool:
    """Whether a thread of programs runs for as long at a light load, or no light trial tells."""
    loaded = [_of_programs(trial) for trial in confirming]
    full = {name: statistics.median(one[name] for one in loaded) for one in loaded for name in one}
    least = SMALL_RATIO * sum(full.values())
    if not least:
        return False
    light = min((one for one in case.curve if one.valid), key=lambda one: one.intended_load_pps, default=None)
    half_pps = statistics.median(one.intended_load_pps for one in confirming) / 2
    if light is None or light.intended_load_pps > half_pps:
        return True
    without = _of_programs(light)
    return any(cycles >= least and without[name] >= POLLS_RATIO * cycles for name, cycles in full.items())


def _of_programs(trial: Trial) -> Counter[str]:
    """Cycles a second that threads of programs ran, on whichever core, system calls included."""
    seconds = max((core.window_s for core in trial.cores), default=trial.duration_s)
    found: Counter[str] = Counter()
    for area in trial.areas:
        if area.kind == GUEST:
            found[area.name] += round(area.busy_cycles / seconds)
    return found


def fewer(before: Cost | None, now: Cost | None) -> Ratio | None:
    """Times as few cycles a packet: the median of the rounds that both have, with the least and the greatest;
    None where either has none or a bound alone, or nothing is left that could be divided by."""
    if before is None or now is None or before.at_most or now.at_most:
        return None
    shared = [number for number in before.by_round if number in now.by_round]
    pairs = [(before.by_round[number], now.by_round[number]) for number in shared]
    values = [one / other for one, other in pairs or [(before.cycles, now.cycles)] if other > 0]
    return Ratio(statistics.median(values), min(values), max(values)) if values else None
