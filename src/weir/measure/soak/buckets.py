# SPDX-License-Identifier: Apache-2.0
"""Delay histograms as weir-dp gives them, added and subtracted: bounds (ns) → packets."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

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
        (round(2 ** (at / COARSE) / 1e3, 6), round(2 ** ((at + 1) / COARSE) / 1e3, 6), packets)
        for at, packets in sorted(counts.items())
    ]
