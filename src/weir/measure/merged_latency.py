# SPDX-License-Identifier: Apache-2.0
"""Latency of several trials as one: their histograms are added, and quantiles are those of the sum.

Each packet counts once, whichever trial it was of. Quantiles of one trial beside the mean of all would
describe no set of packets.
"""

from __future__ import annotations

from collections.abc import Iterable

from weir.measure.soak.buckets import buckets, merged, quantiles
from weir.results.trial import Latency, StreamCount

_SHARES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99, "p999_us": 0.999, "p9999_us": 0.9999}


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
    values = quantiles(together, tuple(_SHARES.values()), least_us, most_us)
    return Latency(
        packets=packets,
        min_us=least_us,
        mean_us=sum(latency.mean_us * latency.packets for latency, _ in known) / packets,
        max_us=most_us,
        **dict(zip(_SHARES, values, strict=True)),
    )
