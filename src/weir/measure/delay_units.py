# SPDX-License-Identifier: Apache-2.0
"""Delays as weir-dp tells them (ns) and as results keep them (us)."""

from __future__ import annotations

from weir.protocol.traffic_results import (
    DelayHistogram,
    GapSummary,
    IpdvSummary,
    JitterSummary,
    LatencySummary,
)
from weir.results.result import Ipdv, Jitter, Latency, Pdv
from weir.results.trial import Gaps

NS_PER_US = 1e3
_QUANTILES = ("p50", "p90", "p99", "p999", "p9999", "max")


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
