# SPDX-License-Identifier: Apache-2.0
"""Whether a trial lost packets for lack of capacity: or in pauses of a system that was otherwise not full, or
not yet, since queues took what was too much.

*Pauses.* A system whose capacity is exceeded has a queue that only grows, or one that stays full and loses
packets all the time. One that pauses loses them in a few milliseconds, and its queue is empty in most
others. Its own pauses are nobody else's fault, so they count. But on a virtual machine a neighbour on the
same physical core can slow it for some milliseconds by what it does to the caches, which no clock in the
machine shows: a rate that pauses bound holds for the pauses that the trials met.

*Backlog.* A load above capacity loses nothing until the queues on its way are full: at 1 Mpps four rings of
4096 take 5 % more than is carried for a third of a second. RFC 2544's 60 s make that small; short trials
must look for it. While a queue grows, so does latency, by w in a trial of d seconds: what is carried in d + w
came in d, so w / (d + w) of the load was not carried in time. Those packets are delivered after sending has
ended, but a search counts them as lost.

Latency begins when a packet was due, so a generator that falls behind makes it grow as well: its own growth
is taken off. The growth is read from two quantiles: over a steady ramp from 0 to w, P90 - P50 = 0.4 w. A
constant latency, however long, is no growth, and stalls that delay less than a tenth of the packets hardly
show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from weir.base.si import MS_PER_S, NS_PER_S
from weir.protocol.traffic_results import LatencySummary, TrafficResult

CALM_SHARE = 0.6
"""Of the slices: with so many without loss and with an ordinary delay, the system was not full."""
CLUSTERED_SHARE = 0.5
"""Losses are in at most so many of the slices that they would be in if they came at random."""

FEW = 5
"""Fewer lost packets are clustered: a full system loses more."""


def in_pauses(lost: Sequence[int], calm: Sequence[bool]) -> bool:
    """Of the slices of a stream that count: packets lost in each, and whether its delay was ordinary."""
    total = sum(lost)
    if total <= 0:
        return False
    at_random = 1 - math.exp(-total / len(lost))
    lossy = sum(packets > 0 for packets in lost) / len(lost)
    quiet = sum(ordinary and packets <= 0 for packets, ordinary in zip(lost, calm, strict=True))
    # A queue that is always full has delays as ever where it drops.
    apart = 2 * calm.count(False) >= sum(packets > 0 for packets in lost)
    clustered = total < FEW or lossy <= CLUSTERED_SHARE * at_random
    return apart and clustered and quiet >= CALM_SHARE * len(lost)


RAMP_SHARE = 0.4  # P90 - P50 of a ramp, as a share of its height
LOSSY_SHARE = 0.1
"""Of the least growth: so much is enough where packets were lost, which is overload without doubt."""


def backlog_packets(result: TrafficResult, duration_s: float, least_ms: float) -> int:
    """Packets of all streams still queued when sending ended.

    A stream whose latency grew by less than `least_ms` has none; `least_ms` = 0 means that nobody looks. A
    stream that lost packets is overloaded without doubt: there a tenth of that growth is enough.
    """
    queued = 0.0
    for stream in result.streams:
        if least_ms and stream.latency is not None and stream.latency.count:
            growth_s = max(0.0, _growth_s(stream.latency) - _growth_s(stream.lateness))
            lossy = stream.delivered < stream.offered
            if growth_s * MS_PER_S > least_ms * (LOSSY_SHARE if lossy else 1):
                queued += stream.delivered * queued_share(growth_s, duration_s)
    return round(queued)


def queued_share(growth: float, duration: float) -> float:
    """Of the time in which packets were sent, its end: what was sent then is still in a queue when it is
    over, if the last packet had to wait `growth` longer than the first. Both in the same unit."""
    return growth / (duration + growth) if growth > 0 else 0.0


def _growth_s(summary: LatencySummary | None) -> float:
    return 0.0 if summary is None else (summary.p90_ns - summary.p50_ns) / NS_PER_S / RAMP_SHARE
