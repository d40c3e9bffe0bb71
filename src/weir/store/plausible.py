# SPDX-License-Identifier: Apache-2.0
"""Whether the numbers of a result from elsewhere can be: what a program wrote is, and what was edited by hand
may not be."""

from __future__ import annotations

from collections.abc import Iterator

from weir.results.result import Case, Result, StreamCount, Trial


def contradiction(result: Result) -> str | None:
    """The first thing that cannot be, with its place; None: there is none."""
    for setup in result.setups:
        for case in setup.cases:
            what = next(_of(case), None)
            if what is not None:
                return f"{setup.title}, frame {case.frame}: {what}"
    return None


def _of(case: Case) -> Iterator[str]:
    for found in case.throughput:
        lowest, rate, highest = found.load_min_pps, found.load_pps, found.load_max_pps
        if rate is not None and rate < 0:
            yield f"{found.goal} is {rate} packets a second"
        for one in found.rounds:
            if one.load_pps < 0:
                yield f"round {one.round} found {one.load_pps} packets a second for {found.goal}"
        if lowest is not None and highest is not None and lowest > highest:
            yield f"the lowest rate for {found.goal}, {lowest}, is above the highest, {highest}"
    of_delays = (trial for point in case.delays for trial in point.trials)
    for trial in (*case.trials, *case.curve, *of_delays):
        yield from _of_trial(trial)


def _of_trial(trial: Trial) -> Iterator[str]:
    each: list[Trial | StreamCount] = [trial, *trial.streams]
    for one in each:
        counts = {
            "offered": one.offered,
            "delivered": one.delivered,
            "duplicates": one.duplicates,
            "reordered": one.reordered,
        }
        negative = next((name for name, count in counts.items() if count < 0), None)
        if negative is not None:
            yield f"a trial has {counts[negative]} packets {negative}"
        if one.delivered > one.offered:
            yield f"a trial delivered {one.delivered} of {one.offered} packets"
