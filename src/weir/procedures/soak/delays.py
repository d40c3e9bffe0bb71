# SPDX-License-Identifier: Apache-2.0
"""Delays of some part of a soak: sums that can be added, the figures that come of them, and what shorter runs
would have shown: after [vCPE], figure 10 (5 minutes against 16 hours).

The first minute, ten minutes and hour are kept with the whole of their histograms. And every part of that
length has its own greatest latency: their spread says how far a single short run can be trusted.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weir.base.si import NS_PER_US
from weir.measure import delay_figures
from weir.measure.delay_figures import SHARES, Buckets, coarse_us, difference, merged, quantiles
from weir.protocol.traffic_results import IpdvSummary, LatencySummary, StreamInterval
from weir.results.delay import Jitter
from weir.results.soak import SoakInterval, SoakPrefix, SoakStream


@dataclass
class Delays:
    """Of one stream over some time. Sums are of packets that were measured."""

    count: int = 0
    sum_ns: float = 0.0
    min_ns: float = float("inf")
    max_ns: float = 0.0
    latency: Buckets = field(default_factory=dict)
    ipdv: Buckets = field(default_factory=dict)
    ipdv_min_ns: float = float("inf")
    ipdv_max_ns: float = float("-inf")
    jitter_count: int = 0
    jitter_sum_ns: float = 0.0
    jitter_max_ns: float = 0.0

    def plus(self, other: Delays) -> Delays:
        """Both times together."""
        return Delays(
            count=self.count + other.count,
            sum_ns=self.sum_ns + other.sum_ns,
            min_ns=min(self.min_ns, other.min_ns),
            max_ns=max(self.max_ns, other.max_ns),
            latency=merged(self.latency, other.latency),
            ipdv=merged(self.ipdv, other.ipdv),
            ipdv_min_ns=min(self.ipdv_min_ns, other.ipdv_min_ns),
            ipdv_max_ns=max(self.ipdv_max_ns, other.ipdv_max_ns),
            jitter_count=self.jitter_count + other.jitter_count,
            jitter_sum_ns=self.jitter_sum_ns + other.jitter_sum_ns,
            jitter_max_ns=max(self.jitter_max_ns, other.jitter_max_ns),
        )

    def into(self, stream: SoakStream, *, coarse: bool) -> SoakStream:
        """The record with its delays; as it is, if none was measured."""
        if not self.count or not self.latency:
            return stream
        summary = self._latency()
        changes: dict[str, object] = {
            "latency": delay_figures.latency(summary),
            "pdv": delay_figures.pdv(summary),
            "histogram": coarse_us(self.latency) if coarse else _in_us(self.latency),
        }
        if self.ipdv:
            changes["ipdv"] = delay_figures.ipdv(self._ipdv())
            changes["ipdv_histogram"] = [] if coarse else _in_us(self.ipdv)
        if self.jitter_count:
            mean_us = self.jitter_sum_ns / self.jitter_count / NS_PER_US
            changes["jitter"] = Jitter(
                mean_us=mean_us, max_us=self.jitter_max_ns / NS_PER_US, last_us=mean_us
            )
        return stream.model_copy(update=changes)

    def _latency(self) -> LatencySummary:
        shares = quantiles(self.latency, [*SHARES.values()], self.min_ns, self.max_ns)
        return LatencySummary(
            count=self.count,
            min_ns=self.min_ns,
            mean_ns=min(max(self.sum_ns / self.count, self.min_ns), self.max_ns),
            max_ns=self.max_ns,
            **{f"{name}_ns": value for name, value in zip(SHARES, shares, strict=True)},
        )

    def _ipdv(self) -> IpdvSummary:
        pairs = sum(self.ipdv.values())
        size_ns = sum((low + high) / 2 * packets for (low, high), packets in self.ipdv.items()) / pairs
        most_ns = max(-self.ipdv_min_ns, self.ipdv_max_ns)
        shares = quantiles(self.ipdv, [*SHARES.values()], 0, most_ns)
        return IpdvSummary(
            pairs=pairs,
            min_ns=self.ipdv_min_ns,
            max_ns=self.ipdv_max_ns,
            mean_size_ns=size_ns,
            **{f"{name}_size_ns": value for name, value in zip(SHARES, shares, strict=True)},
        )


def between(
    before: StreamInterval | None,
    after: StreamInterval,
    latency: tuple[Buckets, Buckets],
    ipdv: tuple[Buckets, Buckets],
) -> Delays:
    """Of the time between two looks at one run. Histograms as (before, after).

    A histogram is read a moment after the counters: some packets of the next interval are in it already,
    and are not in the next one.
    """
    count = after.latency.count - (before.latency.count if before else 0)
    if count <= 0:
        return Delays()
    found = Delays(
        count=count,
        sum_ns=_sum_ns(after) - (_sum_ns(before) if before else 0.0),
        min_ns=after.latency.min_ns,
        max_ns=after.latency.max_ns,
        latency=difference(latency[1], latency[0]),
        ipdv=difference(ipdv[1], ipdv[0]),
    )
    if after.variation is not None:
        was = before.variation if before else None
        found.ipdv_min_ns, found.ipdv_max_ns = after.variation.ipdv_min_ns, after.variation.ipdv_max_ns
        found.jitter_count = after.variation.jitter_count - (was.jitter_count if was else 0)
        found.jitter_sum_ns = after.variation.jitter_mean_ns * after.variation.jitter_count - (
            was.jitter_mean_ns * was.jitter_count if was else 0.0
        )
        found.jitter_max_ns = after.variation.jitter_max_ns
    return found


def _sum_ns(stream: StreamInterval) -> float:
    return stream.latency.mean_ns * stream.latency.count


def _in_us(of: Buckets) -> list[tuple[float, float, int]]:
    return [(low / NS_PER_US, high / NS_PER_US, packets) for (low, high), packets in sorted(of.items())]


def _in_ns(listed: list[tuple[float, float, int]]) -> Buckets:
    return {(low * NS_PER_US, high * NS_PER_US): packets for low, high, packets in listed}


def of_record(stream: SoakStream) -> Delays:
    """Back from a prefix's record, for a soak that goes on.

    The record does not say of how many packets jitter is: it weighs as many as latency, of which a few more
    or fewer were measured.
    """
    if stream.latency is None:
        return Delays()
    found = Delays(
        count=stream.latency.packets,
        sum_ns=stream.latency.mean_us * stream.latency.packets * NS_PER_US,
        min_ns=stream.latency.min_us * NS_PER_US,
        max_ns=stream.latency.max_us * NS_PER_US,
        latency=_in_ns(stream.histogram),
        ipdv=_in_ns(stream.ipdv_histogram),
    )
    if stream.ipdv is not None:
        found.ipdv_min_ns, found.ipdv_max_ns = stream.ipdv.min_us * NS_PER_US, stream.ipdv.max_us * NS_PER_US
    if stream.jitter is not None:
        found.jitter_count = found.count
        found.jitter_sum_ns = stream.jitter.mean_us * found.count * NS_PER_US
        found.jitter_max_ns = stream.jitter.max_us * NS_PER_US
    return found


LENGTHS_S = {"1 min": 60.0, "10 min": 600.0, "1 h": 3600.0}
ALL = "all"
_COUNTS = ("offered", "refused", "delivered", "lost", "duplicates", "reordered")


EARLY_SHARE = 0.1
"""Of an interval: looks are not as far from their time, and no interval more is wanted for what they lack."""


def _reached(passed_s: float, length_s: float, interval_s: float) -> bool:
    """Whether the interval that was the last one fills that length."""
    return passed_s >= length_s - EARLY_SHARE * interval_s


@dataclass
class _Windows:
    """Parts of one length, one behind the other."""

    seconds: float
    filled_s: float = 0.0
    max_us: float = 0.0
    done: list[float] = field(default_factory=list)

    def add(self, seconds: float, max_us: float) -> None:
        self.filled_s += seconds
        self.max_us = max(self.max_us, max_us)
        if _reached(self.filled_s, self.seconds, seconds):
            self.done.append(self.max_us)
            self.filled_s, self.max_us = 0.0, 0.0


class Summed:
    """Counts and delays of some intervals together, stream by stream."""

    def __init__(self, stored: Sequence[SoakStream] = ()) -> None:
        """Goes on from such records."""
        self._streams = {stream.stream: stream for stream in stored}
        self._delays = {stream.stream: of_record(stream) for stream in stored}

    def add(self, record: SoakInterval, delays: Mapping[int, Delays]) -> None:
        """The next interval."""
        for stream in record.streams:
            at = stream.stream
            self._delays[at] = self._delays.get(at, Delays()).plus(delays[at])
            known = self._streams.get(at)
            self._streams[at] = summed(known, stream) if known else _bare(stream)

    def streams(self) -> list[SoakStream]:
        """With the whole of their histograms."""
        return [self._delays[at].into(stream, coarse=False) for at, stream in self._streams.items()]


class Prefixes:
    """Grows by one interval at a time."""

    def __init__(self) -> None:
        self._windows = {name: _Windows(seconds) for name, seconds in LENGTHS_S.items()}
        self._kept: dict[str, SoakPrefix] = {}
        self._seconds = 0.0
        self._sum = Summed()

    @classmethod
    def resumed(cls, stored: Sequence[SoakPrefix], intervals: Sequence[SoakInterval]) -> Prefixes:
        """As they were after those intervals."""
        made = cls()
        for interval in intervals:
            made._time(interval)
        made._kept = {one.name: one for one in stored if one.name != ALL}
        for one in stored:
            if one.name == ALL:
                made._sum = Summed(one.streams)
        return made

    def add(self, record: SoakInterval, delays: Mapping[int, Delays]) -> None:
        """The next interval."""
        self._sum.add(record, delays)
        self._time(record)
        for name, seconds in LENGTHS_S.items():
            if name not in self._kept and _reached(self._seconds, seconds, record.to_s - record.from_s):
                self._kept[name] = self._now(name)

    def so_far(self) -> list[SoakPrefix]:
        """Those that have passed, with their windows, and all together last."""
        found = [one.model_copy(update=_spread(self._windows[name].done)) for name, one in self._kept.items()]
        return [*found, self._now(ALL)]

    def _time(self, record: SoakInterval) -> None:
        latencies = [stream.latency for stream in record.streams if stream.latency is not None]
        if not latencies:
            return
        seconds = record.to_s - record.from_s
        self._seconds += seconds
        for window in self._windows.values():
            window.add(seconds, max(latency.max_us for latency in latencies))

    def _now(self, name: str) -> SoakPrefix:
        return SoakPrefix(name=name, seconds=self._seconds, streams=self._sum.streams())


def summed(one: SoakStream, other: SoakStream) -> SoakStream:
    """Counts of both; delays are added elsewhere."""
    return _bare(one).model_copy(update={name: getattr(one, name) + getattr(other, name) for name in _COUNTS})


def _bare(stream: SoakStream) -> SoakStream:
    return SoakStream(
        stream=stream.stream,
        direction=stream.direction,
        **{name: getattr(stream, name) for name in _COUNTS},
    )


def _spread(max_us: Sequence[float]) -> dict[str, float | int]:
    if not max_us:
        return {}
    return {
        "windows": len(max_us),
        "max_us_least": min(max_us),
        "max_us_median": statistics.median(max_us),
        "max_us_most": max(max_us),
    }
