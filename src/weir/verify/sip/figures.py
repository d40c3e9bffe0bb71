# SPDX-License-Identifier: Apache-2.0
"""Figures of a load of calls, from what was counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weir.results.calls import RequestDelay
from weir.verify.sip.sipp import SET_UP_LAST, Unexpected

_INTERVAL_Z = 1.959964
"""Of 95 %."""
INEFFECTIVE = frozenset({"408", "500", "503", "504"})
"""Answers of functions that cannot (RFC 6076, 4.8)."""


def interval(successes: int, calls: int) -> tuple[float, float]:
    """Of the share of calls that succeed in the long run: 95 % (Wilson, 1927). (0, 1) without calls."""
    if not calls:
        return 0.0, 1.0
    share, square = successes / calls, _INTERVAL_Z**2
    middle = share + square / (2 * calls)
    half = _INTERVAL_Z * math.sqrt(share * (1 - share) / calls + square / (4 * calls**2))
    low, high = (middle - half) / (1 + square / calls), (middle + half) / (1 + square / calls)
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def request_delay(delays_ms: Sequence[float]) -> RequestDelay | None:
    """None without any."""
    if not delays_ms:
        return None
    ordered = sorted(delays_ms)
    return RequestDelay(
        calls=len(ordered),
        p50_ms=_quantile(ordered, 0.5),
        p90_ms=_quantile(ordered, 0.9),
        p95_ms=_quantile(ordered, 0.95),
        p99_ms=_quantile(ordered, 0.99),
        max_ms=ordered[-1],
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The least that so many are not above."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ineffective(named: Mapping[Unexpected, int]) -> int:
    """Calls that ended so before they were answered."""
    return sum(
        times for one, times in named.items() if one.came in INEFFECTIVE and one.due_index <= SET_UP_LAST
    )
