# SPDX-License-Identifier: Apache-2.0
"""How a rate is said: as one number with its spread, or as an interval where the search ran out of time."""

from __future__ import annotations

from weir.report import numbers
from weir.results.result import Throughput


def interval_pps(found: Throughput) -> tuple[float, float] | None:
    """The answer of a search that ran out of time, between its bounds; None of every other.

    It holds what each repeat and round found too: theirs may have ended elsewhere.
    """
    if not found.out_of_time or found.load_pps is None:
        return None
    known = (found.lower_bound_pps, found.upper_bound_pps, found.load_min_pps, found.load_max_pps)
    every = [found.load_pps, *(one for one in known if one is not None)]
    return min(every), max(every)


def single_pps(found: Throughput | None) -> float | None:
    """The rate, where there is one number for it."""
    return None if found is None or found.out_of_time else found.load_pps


def mpps(found: Throughput | None, between: str = "–") -> str:
    """ "2.113", or of an interval "2.113–3.051" in Mpps."""
    ends = interval_pps(found) if found is not None else None
    if ends is None:
        return numbers.mpps(single_pps(found))
    return between.join(map(numbers.mpps, ends))


def gbps(found: Throughput | None, between: str = "–") -> str:
    """The same in Gbit/s of L2."""
    if found is None or found.l2_bps is None or not found.load_pps:
        return numbers.NONE
    bits = found.l2_bps / found.load_pps
    ends = interval_pps(found) or (found.load_pps,)
    return between.join(numbers.gbps(end * bits) for end in ends)


def span_mpps(found: Throughput | None) -> str:
    """Lowest and highest repeat; nothing of an interval, which has them in it."""
    if found is None or found.out_of_time:
        return numbers.NONE
    return numbers.span_mpps(found.load_min_pps, found.load_max_pps)


def spread(found: Throughput) -> float | None:
    """(max - min) / median over the repeats; None without them, and of an interval."""
    if found.out_of_time or not found.load_pps or found.load_min_pps is None or found.load_max_pps is None:
        return None
    return (found.load_max_pps - found.load_min_pps) / found.load_pps


def farthest(found: Throughput | None) -> float | None:
    """Largest distance of a repeat from the median, as a share of it; None without a second repeat, and of
    an interval."""
    if found is None or found.repeats < 2 or spread(found) is None:
        return None
    ends = (found.load_min_pps or 0.0, found.load_max_pps or 0.0)
    return max(abs(end - (found.load_pps or 0.0)) for end in ends) / (found.load_pps or 1.0)
