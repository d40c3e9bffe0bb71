# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.1 and 26.2: the fastest rate at which no frame is lost, and the latency at it.

MLRsearch with a loss ratio and an exceed ratio of 0 and one final trial of full length is what
draft-ietf-bmwg-mlrsearch calls unconditionally compliant with RFC 2544: its lower bound has lost nothing in
such a trial, and its upper bound has lost something. It gets there with short trials first.

Bisection makes every decision by one trial of full length. One frame lost by chance in an early trial bounds
everything that follows: its result can be far too low, never too high.

Latency is of a stream with one tagged frame, repeated and averaged. All frames of the same trials are
measured besides: the tagged one says nothing about the others.
"""

from __future__ import annotations

import statistics
from typing import Any

from weir.base.si import NS_PER_S
from weir.lab.measure import Goal, Measure
from weir.lab.rfc2544 import Search
from weir.measure.delay_figures import merged_latency
from weir.measure.repeats import throughput
from weir.measure.search import GoalResult, search
from weir.measure.trial import Outcome
from weir.procedures.rfc2544.bench import Bench
from weir.protocol.traffic import DelayWanted
from weir.results.result import Throughput
from weir.results.rfc2544 import LatencyTest, TaggedLatency
from weir.results.trial import StreamCount, Trial, left_out_share

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
        highest_by=bench.highest_by,
        shares_cores=bench.shares_cores,
    )


def _mlrsearch(bench: Bench, measure: Measure, limits: tuple[float, float]) -> GoalResult:
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


def bisection(bench: Bench, limits: tuple[float, float]) -> GoalResult:
    """Halves between the last load without loss and the last with it, from the highest load down."""
    width = bench.options.width
    low, high = limits
    ran: dict[float, list[Trial]] = {}  # at these loads

    def trial(load_pps: float) -> Outcome:
        outcome = bench.runner.valid("search", load_pps, bench.options.trial_s)
        ran.setdefault(load_pps, []).append(outcome.trial)
        return outcome

    def answer(**found: Any) -> GoalResult:
        bounds = [found.get("lower_pps"), found.get("upper_pps")]
        loads = bounds if found.get("load_pps") is not None else ran
        share = left_out_share(one for load in loads if load is not None for one in ran.get(load, ()))
        return GoalResult(GOALS["bisection"], left_out_share=share, **found)

    highest = trial(high)
    if not highest.believable():
        return answer(upper_pps=high, why=_unbelievable(high, highest))
    if _lossless(highest):
        return answer(
            load_pps=high, lower_pps=high, why=f"It carries the highest load tried, {high:,.0f} pps."
        )
    too_fast = highest.has("tester")
    carried: float | None = None
    while carried is None or high - carried > width * high:
        load = low if high <= 2 * low and carried is None else ((carried or 0.0) + high) / 2
        outcome = trial(load)
        if not outcome.believable():
            return answer(lower_pps=carried, upper_pps=high, why=_unbelievable(load, outcome))
        if _lossless(outcome):
            carried = load
        elif load <= low:
            return answer(
                upper_pps=low, why=f"Even at {low:,.0f} pps, the lowest load tried, frames were lost."
            )
        else:
            high, too_fast = load, outcome.has("tester")
    return answer(load_pps=carried, lower_pps=carried, upper_pps=high, tester_limited=too_fast)


def _unbelievable(load_pps: float, outcome: Outcome) -> str:
    return f"At {load_pps:,.0f} pps no trial could be believed: {outcome.trial.invalid_because[0]}"


def _lossless(outcome: Outcome) -> bool:
    return outcome.trial.valid and outcome.trial.delivered == outcome.trial.offered


def measure_latency(bench: Bench, load_pps: float) -> LatencyTest:
    """At `load_pps`, all directions together."""
    options = bench.options
    wanted = DelayWanted(tag_ns=round(options.latency_tag_s * NS_PER_S))
    trials: list[Trial] = []
    for number in range(options.latency_repeats):
        bench.phase("latency", number + 1, options.latency_repeats)
        trials.append(bench.runner.valid("latency", load_pps, options.latency_s, wanted).trial)
    valid = [trial for trial in trials if trial.valid]
    report = LatencyTest(
        load_pps=load_pps, trial_s=options.latency_s, tag_s=options.latency_tag_s, repeats=len(valid)
    )
    if not valid:
        report.why = f"No trial was valid: {trials[-1].invalid_because[0]}"
        return report
    streams = [stream for trial in valid for stream in trial.streams]
    for direction in dict.fromkeys(stream.direction for stream in streams):
        found = _one_direction(direction, [one for one in streams if one.direction == direction])
        if found is not None:
            report.directions.append(found)
    if not report.directions:
        report.why = "No tagged frame arrived."
    elif len(valid) < len(trials):
        report.why = f"{len(trials) - len(valid)} of {len(trials)} trials were not valid."
    return report


def _one_direction(direction: str, streams: list[StreamCount]) -> TaggedLatency | None:
    tagged_us = [stream.tagged_us for stream in streams if stream.tagged_us is not None]
    every = merged_latency(streams)
    if not tagged_us or every is None:
        return None
    late_us = [stream.lateness.max_us for stream in streams if stream.lateness is not None]
    return TaggedLatency(
        direction=direction,
        tagged_us=tagged_us,
        mean_us=statistics.mean(tagged_us),
        latency=every,
        late_max_us=max(late_us, default=None),
    )
