# SPDX-License-Identifier: Apache-2.0
"""Verdicts on a whole soak: the service level, one a limit and direction, and which intervals broke it; and
whether anything creeps: straight lines through the intervals of the longest segment.

Lines are least squares; their interval is Student's, for deviations that are independent of each other.
Memory grows in steps, whose deviations are not: its interval is narrower than it should be, never wider.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from weir.lab.sla import Sla
from weir.measure.service_level import service_level_verdicts
from weir.results.result import DelayPoint, Verdict
from weir.results.soak import BrokenLimit, Drift, Soak, SoakInterval, SoakStream
from weir.results.trial import StreamCount, Trial

NAMED = 20  # intervals of one limit


def verdicts(sla: Sla, soak: Soak) -> list[Verdict]:
    """Of the whole soak; limits on throughput are none of its business."""
    whole = soak.prefixes[-1].streams if soak.prefixes else []
    return _verdicts(sla, whole, soak.load, soak.load_pps)


def broken(sla: Sla, soak: Soak, intervals: Sequence[SoakInterval]) -> list[BrokenLimit]:
    """Limits that some intervals broke, whether or not the whole meets them."""
    found: dict[tuple[str, str | None], list[tuple[int, Verdict]]] = {}
    for one in intervals:
        measured = [stream for stream in one.streams if stream.latency is not None]
        for verdict in _verdicts(sla, measured, soak.load, soak.load_pps):
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


def _verdicts(sla: Sla, streams: Sequence[SoakStream], load: str, load_pps: float) -> list[Verdict]:
    if not streams:
        return []
    trial = Trial(
        purpose="soak",
        intended_load_pps=load_pps,
        intended_duration_s=0,
        duration_s=0,
        intended=0,
        offered=0,
        delivered=0,
        loss_ratio=0,
        valid=True,
        streams=[_count(stream) for stream in streams],
    )
    delays_only = sla.model_copy(update={"throughput": ()})
    return service_level_verdicts(delays_only, [], [DelayPoint(load=load, load_pps=load_pps, trials=[trial])])


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


POINTS_MIN = 3
Series = list[tuple[float, float]]  # (seconds, value)


def drifts(intervals: Sequence[SoakInterval]) -> list[Drift]:
    """Of processes, pools, tables and latencies, in that order; none of what has too few intervals."""
    segments: dict[int, list[SoakInterval]] = {}
    for one in intervals:
        if any(stream.latency is not None for stream in one.streams):
            segments.setdefault(one.segment, []).append(one)
    if not segments:
        return []
    longest = max(segments.values(), key=lambda some: some[-1].to_s - some[0].from_s)
    series: dict[tuple[str, str, str], Series] = {}
    for key, point in _points(longest):
        series.setdefault(key, []).append(point)
    return [fitted(*key, points) for key, points in series.items() if len(points) >= POINTS_MIN]


def fitted(subject: str, what: str, unit: str, points: Series) -> Drift:
    """The line. At least three points, not all at one time."""
    from scipy.special import stdtrit  # a tenth of a second to import, once a soak

    times = [at for at, _ in points]
    values = [value for _, value in points]
    line = statistics.linear_regression(times, values)
    deviations = [value - (line.intercept + line.slope * at) for at, value in points]
    spread = sum((at - statistics.fmean(times)) ** 2 for at in times)
    freedom = len(points) - 2
    error = math.sqrt(sum(one * one for one in deviations) / freedom / spread)
    reach = float(stdtrit(freedom, 0.975)) * error
    seconds = times[-1] - times[0]
    start = line.intercept + line.slope * times[0]
    low, change, high = ((line.slope + by) * seconds for by in (-reach, 0.0, reach))
    sharing = abs(start) > 1e-9
    return Drift(
        subject=subject,
        what=what,
        unit=unit,
        points=len(points),
        start=start,
        change=change,
        change_low=low,
        change_high=high,
        share=change / start if sharing else None,
        share_low=low / start if sharing else None,
        share_high=high / start if sharing else None,
        seconds=seconds,
    )


def _points(intervals: Sequence[SoakInterval]) -> Iterator[tuple[tuple[str, str, str], tuple[float, float]]]:
    for one in intervals:
        for process in one.processes:
            yield (process.name, "resident memory", "KiB"), (one.to_s, process.rss_kib)
            yield (process.name, "hugepages", "KiB"), (one.to_s, process.hugepages_kib)
        for pool in one.pools:
            yield (f"pool {pool.name}", "in use", "buffers"), (one.to_s, pool.size - pool.free)
        for table in one.tables:
            yield (table.place, table.name, ""), (one.to_s, table.value)
        for stream in one.streams:
            if stream.latency is not None:
                yield (stream.direction, "latency P50", "us"), (one.to_s, stream.latency.p50_us)
                yield (stream.direction, "latency P99", "us"), (one.to_s, stream.latency.p99_us)
    for was, one in itertools.pairwise(intervals):
        earlier = {process.name: process for process in was.processes}
        seconds = one.to_s - was.to_s
        for process in one.processes:
            known = earlier.get(process.name)
            if known is None or known.pid != process.pid or seconds <= 0:
                continue
            for what, unit, grown in (
                ("CPU time", "cores", process.cpu_s - known.cpu_s),
                ("voluntary switches", "1/s", process.voluntary_switches - known.voluntary_switches),
                ("involuntary switches", "1/s", process.involuntary_switches - known.involuntary_switches),
            ):
                yield (process.name, what, unit), (one.to_s, grown / seconds)
