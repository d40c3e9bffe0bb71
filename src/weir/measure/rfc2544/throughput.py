# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.1: the fastest rate at which no frame is lost, by MLRsearch or by classical bisection.

MLRsearch with a loss ratio and an exceed ratio of 0 and one final trial of full length is what
draft-ietf-bmwg-mlrsearch calls unconditionally compliant with RFC 2544: its lower bound has lost nothing in
such a trial, and its upper bound has lost something. It gets there with short trials first.

Bisection makes every decision by one trial of full length. One frame lost by chance in an early trial bounds
everything that follows: its result can be far too low, never too high.
"""

from __future__ import annotations

from weir.lab.measure import Goal, Measure
from weir.lab.rfc2544 import Search
from weir.measure.repeats import throughput
from weir.measure.rfc2544.bench import Bench
from weir.measure.search import Found, search
from weir.measure.trial import Outcome
from weir.results.result import Throughput

GOALS: dict[Search, Goal] = {
    "mlrsearch": Goal(name="throughput", loss_ratio=0.0),
    "bisection": Goal(name="throughput (bisection)", loss_ratio=0.0),
}
INITIAL_SHARE = 0.1  # of a trial: what MLRsearch looks for the region with
TRIALS_MAX = 100  # of a search, before it is given up


def find_throughput(bench: Bench, by: Search, measure: Measure) -> Throughput:
    """One search. `measure` gives what the options leave open: retries, repeats for stalls, lowest load."""
    limits = measure.min_load * bench.reachable_pps, bench.reachable_pps
    bench.phase("throughput", 1, 1)
    found = _mlrsearch(bench, measure, limits) if by == "mlrsearch" else bisection(bench, limits)
    return throughput(
        GOALS[by],
        [found],
        bench.runner.traffic.mean_frame_bytes,
        ceiling=bench.ceiling,
        capped=bench.maximum.of == "medium" and bench.reachable_pps == bench.maximum.pps,
        shares_cores=bench.shares_cores,
    )


def _mlrsearch(bench: Bench, measure: Measure, limits: tuple[float, float]) -> Found:
    options = bench.options
    trial = measure.trial.model_copy(
        update={
            "initial_duration_s": INITIAL_SHARE * options.trial_s,
            "duration_s": options.trial_s,
            "duration_sum_s": options.trial_s,
        }
    )
    wanted = measure.model_copy(
        update={
            "goals": (GOALS["mlrsearch"],),
            "exceed_ratio": 0.0,
            "relative_width": options.width,
            "trial": trial,
        }
    )
    deadline = bench.clock() + TRIALS_MAX * (options.trial_s + options.residual_s + options.restabilise_s)
    return search(bench.runner, wanted, limits, clock=bench.clock, deadline=deadline)[0]


def bisection(bench: Bench, limits: tuple[float, float]) -> Found:
    """Halves between the last load without loss and the last with it, from the highest load down."""
    goal, duration_s, width = GOALS["bisection"], bench.options.trial_s, bench.options.width
    low, high = limits
    highest = bench.runner.valid("search", high, duration_s)
    if _lossless(highest):
        return Found(
            goal, load_pps=high, lower_pps=high, why=f"It carries the highest load tried, {high:,.0f} pps."
        )
    too_fast = highest.has("tester")
    carried: float | None = None
    while carried is None or high - carried > width * high:
        load = low if high <= 2 * low and carried is None else ((carried or 0.0) + high) / 2
        outcome = bench.runner.valid("search", load, duration_s)
        if outcome.has("accounting") or outcome.has("host"):
            why = f"At {load:,.0f} pps no trial could be believed: {outcome.trial.invalid_because[0]}"
            return Found(goal, lower_pps=carried, upper_pps=high, why=why)
        if _lossless(outcome):
            carried = load
        elif load <= low:
            return Found(
                goal, upper_pps=low, why=f"Even at {low:,.0f} pps, the lowest load tried, frames were lost."
            )
        else:
            high, too_fast = load, outcome.has("tester")
    return Found(goal, load_pps=carried, lower_pps=carried, upper_pps=high, tester_limited=too_fast)


def _lossless(outcome: Outcome) -> bool:
    return outcome.trial.valid and outcome.trial.delivered == outcome.trial.offered
