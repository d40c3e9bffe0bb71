# SPDX-License-Identifier: Apache-2.0
"""Delays as weir-dp counts them (ns) in the shapes of results (µs); histograms, added and subtracted."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from weir.base.si import NS_PER_US
from weir.protocol.traffic_results import (
    DelayHistogram,
    GapSummary,
    IpdvSummary,
    JitterSummary,
    LatencySummary,
)
from weir.results.delay import Gaps, Latency
from weir.results.result import Ipdv, Jitter, Pdv
from weir.results.trial import StreamCount

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
_QUANTILES = (*SHARES, "max")


def latency(summary: LatencySummary | None) -> Latency | None:
    """None where nothing was measured."""
    if summary is None or not summary.count:
        return None
    names = ("min", "mean", *_QUANTILES)
    values = {f"{name}_us": getattr(summary, f"{name}_ns") / NS_PER_US for name in names}
    return Latency(packets=summary.count, **values)


def pdv(summary: LatencySummary | None) -> Pdv | None:
    """RFC 5481, 4.2: quantiles of the delay less its minimum."""
    if summary is None or not summary.count:
        return None
    values = {
        f"{name}_us": (getattr(summary, f"{name}_ns") - summary.min_ns) / NS_PER_US for name in _QUANTILES
    }
    return Pdv(**values)


def ipdv(summary: IpdvSummary | None) -> Ipdv | None:
    """None where no two packets came one after the other."""
    if summary is None or not summary.pairs:
        return None
    values = {
        name.removesuffix("_ns") + "_us": value / NS_PER_US
        for name, value in summary.model_dump(exclude={"pairs"}).items()
    }
    return Ipdv(pairs=summary.pairs, **values)


def jitter(summary: JitterSummary | None) -> Jitter | None:
    """None where it was not asked for."""
    if summary is None:
        return None
    return Jitter(
        mean_us=summary.mean_ns / NS_PER_US,
        max_us=summary.max_ns / NS_PER_US,
        last_us=summary.last_ns / NS_PER_US,
    )


def gaps(summary: GapSummary | None) -> Gaps | None:
    """None where nothing was missing."""
    if summary is None:
        return None
    return Gaps(
        count=summary.count,
        last_lost_us=summary.last_lost_ns / NS_PER_US,
        longest_us=summary.longest_ns / NS_PER_US,
    )


def in_us(histogram: DelayHistogram) -> list[tuple[float, float, int]]:
    """Buckets: from, up to but without, packets."""
    return [(low / NS_PER_US, high / NS_PER_US, packets) for low, high, packets in histogram.buckets]


Buckets = Mapping[tuple[float, float], int]
COARSE = 4  # buckets an octave in an interval's record


def buckets(listed: Iterable[tuple[float, float, int]]) -> dict[tuple[float, float], int]:
    """Of (from, up to, packets) each."""
    return {(low, high): packets for low, high, packets in listed}


def difference(after: Buckets, before: Buckets) -> dict[tuple[float, float], int]:
    """What was added between two readings of one run."""
    grown = {bounds: packets - before.get(bounds, 0) for bounds, packets in after.items()}
    return {bounds: packets for bounds, packets in grown.items() if packets > 0}


def merged(one: Buckets, other: Buckets) -> dict[tuple[float, float], int]:
    """Both together."""
    return {bounds: one.get(bounds, 0) + other.get(bounds, 0) for bounds in {*one, *other}}


def quantiles(of: Buckets, shares: Sequence[float], least: float, most: float) -> list[float]:
    """Of each share the middle of the bucket below which it lies, within what was seen; in the unit
    of the bounds. Shares ascend."""
    bounds = sorted(of)
    seen = list(itertools.accumulate(of[each] for each in bounds))
    ranks = (max(1, math.ceil(share * seen[-1])) for share in shares)
    found = (bounds[bisect.bisect_left(seen, rank)] for rank in ranks)
    return [min(max((low + high) / 2, least), most) for low, high in found]


def coarse_us(of: Buckets) -> list[tuple[float, float, int]]:
    """The same with four buckets an octave, in microseconds, for a record that is kept thousands of times."""
    counts: dict[int, int] = {}
    for (low, high), packets in of.items():
        at = math.floor(math.log2(max((low + high) / 2, 1.0)) * COARSE)
        counts[at] = counts.get(at, 0) + packets
    return [
        (round(2 ** (at / COARSE) / NS_PER_US, 6), round(2 ** ((at + 1) / COARSE) / NS_PER_US, 6), packets)
        for at, packets in sorted(counts.items())
    ]


def merged_latency(streams: Iterable[StreamCount]) -> Latency | None:
    """Of all that measured a latency; None if none did, or one of them kept no histogram."""
    known = [(stream.latency, stream.histogram) for stream in streams if stream.latency is not None]
    if not known or not all(histogram for _, histogram in known):
        return None
    together: dict[tuple[float, float], int] = {}
    for _, histogram in known:
        together = merged(together, buckets(histogram))
    least_us = min(latency.min_us for latency, _ in known)
    most_us = max(latency.max_us for latency, _ in known)
    packets = sum(latency.packets for latency, _ in known)
    values = quantiles(together, tuple(SHARES.values()), least_us, most_us)
    return Latency(
        packets=packets,
        min_us=least_us,
        mean_us=sum(latency.mean_us * latency.packets for latency, _ in known) / packets,
        max_us=most_us,
        **{f"{name}_us": value for name, value in zip(SHARES, values, strict=True)},
    )
