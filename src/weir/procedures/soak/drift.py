# SPDX-License-Identifier: Apache-2.0
"""Whether anything creeps in a soak: straight lines through the intervals of the longest segment.

Lines are least squares; their interval is Student's, for deviations that are independent of each other.
Memory grows in steps, whose deviations are not: its interval is narrower than it should be, never wider.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from weir.results.soak import Drift, SoakInterval

POINTS_MIN = 3
Series = list[tuple[float, float]]  # (seconds, value)


def drifts(intervals: Sequence[SoakInterval], *, one_load: bool) -> list[Drift]:
    """Of processes, pools, tables and latencies, in that order; none of what has too few intervals.

    Without `one_load` none of what moves with it: latencies, switches, CPU time.
    """
    segments: dict[int, list[SoakInterval]] = {}
    for one in intervals:
        if any(stream.latency is not None for stream in one.streams):
            segments.setdefault(one.segment, []).append(one)
    if not segments:
        return []
    longest = max(segments.values(), key=lambda some: some[-1].to_s - some[0].from_s)
    series: dict[tuple[str, str, str], Series] = {}
    for key, point in itertools.chain(_points(longest), _load_points(longest) if one_load else ()):
        series.setdefault(key, []).append(point)
    return [fitted(*key, points) for key, points in series.items() if len(points) >= POINTS_MIN]


def fitted(subject: str, what: str, unit: str, points: Series) -> Drift:
    """The line. At least three points, not all at one time."""
    from scipy.special import stdtrit  # a tenth of a second to import, once a soak

    times = [at for at, _ in points]
    values = [value for _, value in points]
    line = statistics.linear_regression(times, values)
    deviations = [value - (line.intercept + line.slope * at) for at, value in points]
    middle = statistics.fmean(times)
    spread = sum((at - middle) ** 2 for at in times)
    freedom = len(points) - 2
    variance, student = sum(one * one for one in deviations) / freedom, float(stdtrit(freedom, 0.975))
    reach = student * math.sqrt(variance / spread)
    seconds = times[-1] - times[0]
    start = line.intercept + line.slope * times[0]
    low, change, high = ((line.slope + by) * seconds for by in (-reach, 0.0, reach))
    away = times[0] - middle
    of_start = student * math.sqrt(variance * (1 / len(points) + away * away / spread))
    sharing = start > max(of_start, 1e-9)  # of what may as well begin with nothing, a share says nothing
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


def _load_points(
    intervals: Sequence[SoakInterval],
) -> Iterator[tuple[tuple[str, str, str], tuple[float, float]]]:
    for one in intervals:
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
