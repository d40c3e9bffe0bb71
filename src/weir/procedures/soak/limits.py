# SPDX-License-Identifier: Apache-2.0
"""Verdicts on a whole soak: the service level, one a limit and direction, and which intervals broke it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weir.lab.sla import Sla
from weir.measure.service_level import service_level_verdicts
from weir.results.result import DelayPoint, Verdict
from weir.results.soak import BrokenLimit, Soak, SoakInterval, SoakStream
from weir.results.trial import Stall, StreamCount, Trial

NAMED = 20  # intervals of one limit


def verdicts(sla: Sla, soak: Soak) -> list[Verdict]:
    """Of the whole soak; limits on throughput are none of its business."""
    whole = soak.prefixes[-1].streams if soak.prefixes else []
    return _verdicts(sla, whole, soak, soak.intervals)


def broken(sla: Sla, soak: Soak, intervals: Sequence[SoakInterval]) -> list[BrokenLimit]:
    """Limits that some intervals broke, whether or not the whole meets them. Of an interval that others
    disturbed for most of its time nobody knows."""
    found: dict[tuple[str, str | None], list[tuple[int, Verdict]]] = {}
    for one in intervals:
        measured = [stream for stream in one.streams if stream.latency is not None]
        for verdict in _verdicts(sla, measured, soak, [one]):
            if not verdict.met and verdict.found is not None:
                found.setdefault((verdict.criterion, verdict.direction), []).append((one.number, verdict))
    return [_broken(some) for some in found.values()]


def _broken(some: list[tuple[int, Verdict]]) -> BrokenLimit:
    number, worst = max(some, key=lambda one: one[1].found or 0.0)
    return BrokenLimit(
        criterion=worst.criterion,
        direction=worst.direction,
        limit=worst.limit,
        unit=worst.unit,
        intervals=len(some),
        worst=worst.found or 0.0,
        worst_interval=number,
        first_intervals=[at for at, _ in some[:NAMED]],
    )


def _verdicts(
    sla: Sla, streams: Sequence[SoakStream], soak: Soak, intervals: Sequence[SoakInterval]
) -> list[Verdict]:
    """On these streams, which were counted in these intervals."""
    if not streams:
        return []
    trial = Trial(
        purpose="soak",
        intended_load_pps=soak.load_pps,
        intended_duration_s=0,
        duration_s=sum(one.to_s - one.from_s for one in intervals),
        intended=0,
        offered=0,
        delivered=0,
        loss_ratio=0,
        valid=True,
        stalls=_away(intervals),
        streams=[_count(stream) for stream in streams],
    )
    delays_only = sla.model_copy(update={"throughput": ()})
    point = DelayPoint(load=soak.load, load_pps=soak.load_pps, trials=[trial])
    return service_level_verdicts(delays_only, [], [point])


def _away(intervals: Sequence[SoakInterval]) -> list[Stall]:
    """How long others had some core of the chain, as a stall of the one that they had for longest: as the
    kernel tells, of all cores together; or of that core as its loop saw it, if that is more."""
    away: Counter[int] = Counter()
    some_us = 0.0
    for one in intervals:
        seen: Counter[int] = Counter()
        told: Counter[int] = Counter()
        for stall in one.stalls:
            seen[stall.core] += round(stall.host_us)
        for taken in one.taken:
            told[taken.core] += round(taken.us)
        each = seen | told
        away += each
        some_us += max(one.some_taken_us or 0.0, *each.values(), 0.0)
    return [
        Stall(core=core, count=0, total_us=some_us, longest_us=0, host_us=some_us)
        for core, _ in away.most_common(1)
    ]


def _count(stream: SoakStream) -> StreamCount:
    """Of packets whose fate is known: those under way at an interval's end are not lost."""
    return StreamCount(
        stream=stream.stream,
        direction=stream.direction,
        intended=stream.offered,
        offered=stream.delivered + max(0, stream.lost),
        delivered=stream.delivered,
        duplicates=stream.duplicates,
        reordered=stream.reordered,
        latency=stream.latency,
        pdv=stream.pdv,
        ipdv=stream.ipdv,
        jitter=stream.jitter,
    )
