# SPDX-License-Identifier: Apache-2.0
"""What of a finished run counts, in the result's shape: disturbances and the machine's state together."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weir.base.si import NS_PER_US, US_PER_S
from weir.measure.absences import SLOWED_TIMES, absences, slowed
from weir.measure.disturbance import evidence
from weir.measure.left_out import recorded
from weir.measure.machine_state import MachineState
from weir.measure.tester import CoreWatch, InterfaceWatch, Taken, Unwatched
from weir.protocol.traffic_results import Slices
from weir.results.result import Counted, LeftOut, TrialSlices

ENOUGH_SHARE = 0.7
"""Of the time asked for: with less undisturbed time a trial is no answer."""


@dataclass(frozen=True)
class Counting:
    """What counts, what does not, and in which state the machine was."""

    record: Counted
    left_out: tuple[LeftOut, ...]
    slices: TrialSlices
    distances_cycles: Mapping[str, float]
    slower_times: float | None
    short: int
    """Packets due in clean time, and not sent."""
    short_recovering: int
    """Likewise behind an absence, while the tester caught up."""
    away_s: float
    """Time in which some core was away; of all cores together."""
    streams: Mapping[int, tuple[int, int]]
    """Of each by its number: packets that count, and those of them that were lost or left in a queue."""


@dataclass(frozen=True)
class Watched:
    """What tells of disturbances: who had the cores, what the run's trials saw of the machine so far, and
    whether the chain is still what was built."""

    cores: CoreWatch = field(default_factory=Unwatched)
    state: MachineState = field(default_factory=MachineState)
    interfaces: InterfaceWatch = field(default_factory=Unwatched)


def counting(
    slices: Slices,
    taken: Sequence[Taken],
    state: MachineState,
    *,
    least_growth_ms: float,
    wanted_s: float,
) -> Counting:
    """What counts of a run of which `wanted_s` should.

    Slices in which a core was slowed are left out while there is enough without them; else all count, and
    `slower_times` tells how slow it was. `state` has seen this run afterwards.
    """
    away = absences(slices, taken)
    best_cycles = state.best_piece_cycles()
    slow = slowed(slices, best_cycles)
    found = evidence(slices, [*away, *slow], least_growth_ms)
    times = None
    if slow and found.seconds < ENOUGH_SHARE * wanted_s:
        found = evidence(slices, away, least_growth_ms)
        times = _slower_times(slices, best_cycles)
    asker = slices.cores[0].core if slices.cores else 0
    distances = {
        f"{asker}-{core.core}": float(core.distance_cycles)
        for core in (*slices.cores, *slices.other_cores)
        if core.distance_cycles
    }
    count = len(slices.streams[0].due) if slices.streams else 0
    pieces = {core.core: core.piece_cycles for core in slices.cores}
    pieces |= {other.core: (other.piece_cycles,) * count for other in slices.other_cores}
    state.saw(pieces, distances)
    return Counting(
        record=Counted(
            seconds=found.seconds,
            recovering_s=found.recovering_s,
            offered=found.offered,
            lost=found.lost,
            short=found.short + found.short_recovering,
            backlog=found.backlog,
            in_pauses=found.in_pauses,
        ),
        left_out=recorded(found.left_out),
        slices=_record(slices),
        distances_cycles=distances,
        slower_times=times,
        short=found.short,
        short_recovering=found.short_recovering,
        away_s=sum(one.to_us - max(0.0, one.from_us) for one in away) / US_PER_S,
        streams=found.streams,
    )


def _slower_times(slices: Slices, best_cycles: Mapping[int, float]) -> float | None:
    """Of the slowest core, in the middle of its slices; None if it was as fast as at its best in most."""
    times = [1.0]
    for core in slices.cores:
        timed = [cycles for cycles in core.piece_cycles if cycles]
        if timed and core.core in best_cycles:
            times.append(statistics.median(timed) / best_cycles[core.core])
    times += [
        other.piece_cycles / best_cycles[other.core]
        for other in slices.other_cores
        if other.core in best_cycles
    ]
    slowest = max(times)
    return round(slowest, 3) if slowest > SLOWED_TIMES else None


def _record(slices: Slices) -> TrialSlices:
    count = len(slices.streams[0].due) if slices.streams else 0
    offered = [sum(stream.offered[at] for stream in slices.streams) for at in range(count)]
    delivered = [sum(stream.delivered[at] for stream in slices.streams) for at in range(count)]
    delay_ns = [
        sum(stream.delivered[at] * stream.delay_ns[at] for stream in slices.streams) / max(1, delivered[at])
        for at in range(count)
    ]
    return TrialSlices(
        width_us=slices.width_us,
        offered=offered,
        lost=[(at, offered[at] - delivered[at]) for at in range(count) if offered[at] > delivered[at]],
        delay_us=[round(ns / NS_PER_US, 1) for ns in delay_ns],
    )
