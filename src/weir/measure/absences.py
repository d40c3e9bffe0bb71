# SPDX-License-Identifier: Apache-2.0
"""When a core on the packets' way was not there for them: the host or another program had it, or it worked
slower than at its best. What of a trial counts then: `weir.measure.disturbance`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.measure.tester import Taken
from weir.protocol.traffic_results import Slices
from weir.results.slices import HOST, SLOWED

TAKEN_MIN_US = 50.0
"""Less of others' time at once is in every trial, of the kernel's own threads: a queue holds what comes
then."""
TOGETHER_US = 500.0
"""Times of others that are nearer to each other than this are one."""
OWN_SHARE = 0.5
"""Of a loop's gap: who had the core for so much of it made it."""
SLOWED_TIMES = 1.15
"""A core that takes so many times as long for the same work as at its best."""


@dataclass(frozen=True)
class Absence:
    """A time in which a core was not there, from the run's start."""

    core: int
    from_us: float
    to_us: float
    by: str


def absences(slices: Slices, taken: Iterable[Taken] = ()) -> list[Absence]:
    """Of the host, as polling loops noticed, and of other programs; those that touch the run's time. A gap
    in which a thread of the system under test had the loop's core is its own doing."""
    us_a_ns = slices.now_us / max(1, slices.now_raw_ns - slices.start_raw_ns)
    others: list[Absence] = []
    own: list[Absence] = []
    for one in taken:
        (own if one.takes_part else others).append(
            Absence(
                one.core,
                (one.from_raw_ns - slices.start_raw_ns) * us_a_ns,
                (one.to_raw_ns - slices.start_raw_ns) * us_a_ns,
                one.by,
            )
        )
    gaps = [
        Absence(gap.core, gap.ended_us - gap.us, gap.ended_us, HOST) for gap in slices.gaps if gap.host_us
    ]
    found = [gap for gap in gaps if _inside_us(gap, own) < OWN_SHARE * (gap.to_us - gap.from_us)]
    found += [
        one
        for group in _together(others)
        if sum(each.to_us - each.from_us for each in group) >= TAKEN_MIN_US
        for one in group
    ]
    end_us = slices.now_us
    if slices.streams:
        end_us = min(end_us, len(slices.streams[0].due) * slices.width_us)
    return [one for one in found if one.to_us > 0 and one.from_us < end_us]


def host_us_until(slices: Slices, core: int, until_us: float) -> float | None:
    """What the host took of a core from the run's start until then, as its loop noticed; None: not known,
    since there were more gaps than are kept."""
    if slices.gaps_left_out:
        return None
    return sum(
        gap.host_us * min(1.0, max(0.0, until_us - (gap.ended_us - gap.us)) / gap.us)
        for gap in slices.gaps
        if gap.core == core and gap.us > 0
    )


def _inside_us(gap: Absence, spans: Iterable[Absence]) -> float:
    """Of a gap, the time that is in spans of the same core."""
    return sum(
        max(0.0, min(one.to_us, gap.to_us) - max(one.from_us, gap.from_us))
        for one in spans
        if one.core == gap.core
    )


def _together(others: Sequence[Absence]) -> Iterator[list[Absence]]:
    """Those of one core that are near to each other."""
    group: list[Absence] = []
    for one in sorted(others, key=lambda one: (one.core, one.from_us)):
        if group and (one.core != group[-1].core or one.from_us - group[-1].to_us > TOGETHER_US):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def slowed(slices: Slices, best_cycles: Mapping[int, float]) -> list[Absence]:
    """Times in which a core was slower than at its best, of cores whose best is known. A core without a loop
    of weir-dp is timed just before, which stands for all of the run."""
    width_us = slices.width_us
    found: list[Absence] = []
    for core in slices.cores:
        limit = best_cycles.get(core.core, math.inf) * SLOWED_TIMES
        found += [
            Absence(core.core, at * width_us, (at + 1) * width_us, SLOWED)
            for at, cycles in enumerate(core.piece_cycles)
            if cycles > limit
        ]
    found += [
        Absence(other.core, 0.0, slices.now_us, SLOWED)
        for other in slices.other_cores
        if other.piece_cycles > best_cycles.get(other.core, math.inf) * SLOWED_TIMES
    ]
    return found
