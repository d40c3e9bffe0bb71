# SPDX-License-Identifier: Apache-2.0
"""Loads of a soak that follow each other: when each has its turn, and what happened in its intervals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from weir.lab.delay import ScheduleStep
from weir.procedures.soak.delays import Delays, Summed
from weir.protocol.traffic import RATE_CHANGES_MAX
from weir.results.soak import Soak, SoakInterval, SoakStep

Step = ScheduleStep | SoakStep


def turns(steps: Sequence[Step], from_s: float, for_s: float) -> Iterator[tuple[float, int]]:
    """When a step has its turn, in s after `from_s` of the load, and which; the first at 0."""
    if not steps:
        return
    whole_s = sum(step.duration_s for step in steps)
    at_s = -(from_s % whole_s)
    for index, step in itertools.cycle(enumerate(steps)):
        ends_s = at_s + step.duration_s
        if at_s >= for_s:
            return
        if ends_s > 0:
            yield max(0.0, at_s), index
        at_s = ends_s


def complaint(steps: Sequence[Step], duration_s: float, interval_s: float) -> str | None:
    """Why a soak cannot have this schedule; None: it can."""
    shortest_s = min((step.duration_s for step in steps), default=interval_s)
    if shortest_s < interval_s:
        return f"a step of {shortest_s:g} s is shorter than an interval of {interval_s:g} s: it is not seen"
    changes = sum(1 for _ in turns(steps, 0, duration_s))
    if changes > RATE_CHANGES_MAX:
        return f"{changes:,.0f} changes of the load in {duration_s:g} s; {RATE_CHANGES_MAX} are possible"
    return None


def shares(soak: Soak, from_s: float, for_s: float) -> list[tuple[float, float]]:
    """When the load changes, in s, and to which share of the highest; none of one load."""
    return [
        (at_s, soak.schedule[index].load_pps / soak.load_pps)
        for at_s, index in turns(soak.schedule, from_s, for_s)
    ]


class Steps:
    """Of a soak's schedule, an interval at a time."""

    def __init__(self, soak: Soak) -> None:
        self._steps = soak.schedule
        self._sums = [Summed(step.streams) for step in soak.schedule]

    def at(self, middle_s: float) -> int | None:
        """Number of the step, from 1, after so much time under load; None: there is no schedule."""
        found = next(turns(self._steps, middle_s, 1e-9), None)
        return None if found is None else found[1] + 1

    def add(self, record: SoakInterval, delays: Mapping[int, Delays]) -> None:
        """The next interval, which says whose it is."""
        if record.step is None:
            return
        step, total = self._steps[record.step - 1], self._sums[record.step - 1]
        total.add(record, delays)
        step.seconds += record.to_s - record.from_s
        step.streams = total.streams()
