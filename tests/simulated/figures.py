# SPDX-License-Identifier: Apache-2.0
"""What a tester would say of a passage through a simulated device: delays, stalls, slices."""

from __future__ import annotations

import itertools
import math

from tests.simulated.device import Passage
from weir.base.si import NS_PER_S, US_PER_S
from weir.protocol.traffic_results import (
    Gap,
    GapSummary,
    IpdvSummary,
    JitterSummary,
    LatencySummary,
    Slices,
    StallCount,
    StreamSlices,
)

WIRE_S = 10e-6  # latency without waiting


def stalls(inside: Passage) -> StallCount:
    """Of the one core that it has."""
    lengths_us = [(stall.to_s - stall.from_s) * US_PER_S for stall in inside.stalls]
    hosts_us = [us for us, stall in zip(lengths_us, inside.stalls, strict=True) if not stall.own]
    return StallCount(
        core=1,
        count=len(lengths_us),
        total_us=sum(lengths_us),
        longest_us=max(lengths_us, default=0.0),
        host_count=len(hosts_us),
        host_us=sum(hosts_us),
    )


def slices(inside: Passage, intended: int, offered: int, duration_s: float, *, more_lost: int) -> Slices:
    """All streams as one. What else went wrong is lost in the last slices."""
    count = len(inside.slices_dropped)
    ends = [round(intended * min(1.0, (at + 1) * inside.slice_s / duration_s)) for at in range(count)]
    due = [now - was for was, now in itertools.pairwise([0, *ends])]
    sent = [min(now, offered) - min(was, offered) for was, now in itertools.pairwise([0, *ends])]
    lost = [min(*both) for both in zip(inside.slices_dropped, sent, strict=True)]
    for at in reversed(range(count)):
        more = min(sent[at] - lost[at], more_lost)
        lost[at], more_lost = lost[at] + more, more_lost - more
    absent = tuple(
        Gap(core=1, ended_us=stall.to_s * US_PER_S, us=us, host_us=0.0 if stall.own else us)
        for stall in inside.stalls
        for us in [(stall.to_s - stall.from_s) * US_PER_S]
    )
    return Slices(
        width_ns=round(inside.slice_s * NS_PER_S),
        start_raw_ns=0,
        now_raw_ns=round(duration_s * NS_PER_S),
        now_us=duration_s * US_PER_S,
        streams=(
            StreamSlices(
                id=0,
                due=tuple(due),
                offered=tuple(sent),
                delivered=tuple(now - gone for now, gone in zip(sent, lost, strict=True)),
                delay_ns=tuple(round((WIRE_S + wait) * NS_PER_S) for wait in inside.slices_wait_s),
                late_ns=(0,) * len(inside.slices_wait_s),
            ),
        ),
        cores=(),
        gaps=absent,
    )


def gaps(last_lost_s: float | None, longest_s: float) -> GapSummary | None:
    """None where nothing was lost."""
    if last_lost_s is None:
        return None
    return GapSummary(count=1, last_lost_ns=last_lost_s * NS_PER_S, longest_ns=longest_s * NS_PER_S)


def latency(inside: Passage, packets: int) -> LatencySummary:
    """Of so many packets: of all that were tried, the same quantiles."""
    waits = inside.waits_s

    def quantile_ns(share: float) -> float:
        return (WIRE_S + waits[min(len(waits) - 1, math.floor(share * len(waits)))]) * NS_PER_S

    return LatencySummary(
        count=packets,
        min_ns=quantile_ns(0),
        mean_ns=(WIRE_S + sum(waits) / len(waits)) * NS_PER_S,
        p50_ns=quantile_ns(0.5),
        p90_ns=quantile_ns(0.9),
        p99_ns=quantile_ns(0.99),
        p999_ns=quantile_ns(0.999),
        p9999_ns=quantile_ns(0.9999),
        max_ns=quantile_ns(1),
    )


def ipdv(inside: Passage, packets: int) -> IpdvSummary:
    """As if the waits were of packets one after the other."""
    steps = [(after - before) * NS_PER_S for before, after in itertools.pairwise(inside.waits_s)] or [0.0]
    sizes = sorted(abs(step) for step in steps)

    def size_ns(share: float) -> float:
        return sizes[min(len(sizes) - 1, math.floor(share * len(sizes)))]

    return IpdvSummary(
        pairs=packets - 1,
        min_ns=min(steps),
        max_ns=max(steps),
        mean_size_ns=sum(sizes) / len(sizes),
        p50_size_ns=size_ns(0.5),
        p90_size_ns=size_ns(0.9),
        p99_size_ns=size_ns(0.99),
        p999_size_ns=size_ns(0.999),
        p9999_size_ns=size_ns(0.9999),
    )


def jitter(inside: Passage) -> JitterSummary:
    """As if the waits were of packets one after the other."""
    steps = [abs(after - before) * NS_PER_S for before, after in itertools.pairwise(inside.waits_s)] or [0.0]
    mean_ns = sum(steps) / len(steps)
    return JitterSummary(mean_ns=mean_ns, max_ns=max(steps), last_ns=mean_ns)
