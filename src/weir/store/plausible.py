# SPDX-License-Identifier: Apache-2.0
"""Whether the numbers of a result from elsewhere can be: what a program wrote is, and what was edited by hand
may not be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from weir.results.result import Case, Result, StreamCount, Trial

_ROUNDED = 1e-6
"""Sums of other orders differ by less."""


def contradiction(result: Result) -> str | None:
    """The first thing that cannot be, with its place; None: there is none."""
    if not result.title.isprintable():
        return f"its title is {result.title!r}"
    for setup in result.setups:
        for case in setup.cases:
            what = next(_of(case), None)
            if what is not None:
                return f"{setup.title}, frame {case.frame}: {what}"
    return None


def _of(case: Case) -> Iterator[str]:
    for found in case.throughput:
        lowest, rate, highest = found.load_min_pps, found.load_pps, found.load_max_pps
        if not found.goal.isprintable():
            yield f"a goal is named {found.goal!r}"
        if found.loss_ratio is not None and not 0 <= found.loss_ratio <= 1:
            yield f"{found.goal} has a loss ratio of {found.loss_ratio}"
        for pps in (rate, lowest, highest):
            if pps is not None and pps < 0:
                yield f"{found.goal} is {pps} packets a second"
        known = [pps for pps in (lowest, rate, highest) if pps is not None]
        if any(pps * (1 - _ROUNDED) > next_pps for pps, next_pps in pairwise(known)):
            in_order = "lowest, median and highest rates" if len(known) > 2 else "lowest and highest rates"
            yield f"{found.goal} has {', '.join(map(str, known))} as its {in_order}"
        for one in found.rounds:
            if one.load_pps < 0:
                yield f"round {one.round} found {one.load_pps} packets a second for {found.goal}"
    of_delays = (trial for point in case.delays for trial in point.trials)
    for trial in (*case.trials, *case.curve, *of_delays):
        yield from _of_trial(trial)


def _of_trial(trial: Trial) -> Iterator[str]:
    if not 0 <= trial.loss_ratio <= 1:
        yield f"a trial has a loss ratio of {trial.loss_ratio}"
    if trial.duration_s < 0:
        yield f"a trial lasted {trial.duration_s} s"
    if any(drop.packets < 0 for drop in trial.drops):
        yield "a place dropped less than no packet"
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
