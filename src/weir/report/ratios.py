# SPDX-License-Identifier: Apache-2.0
"""Ratios to the baseline: of pairs that were measured in the same round, with the interval of the pairs.

A rate that the tester limits is a bound, and so is a ratio with one of them. Rates that do not compare have
no ratio, and a reason.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from weir.report import numbers
from weir.results.result import RoundRate, Throughput

# Cores whose pace, or distance from each other, differs by less are in the same state of the machine.
SAME_PACE_TIMES = 1.15
SAME_DISTANCE_TIMES = 1.5

Bound = Literal["=", ">=", "<="]
SIGNS: dict[Bound, str] = {"=": "", ">=": "≥", "<=": "≤"}


class NoRatio(StrEnum):
    """Why two rates have no ratio."""

    NO_RATE = "one of the two rates is missing"
    OUT_OF_TIME = "one of the two searches ran out of time"
    BOTH_BOUND = "both rates are tester-bound"
    OTHER_STATE = "the two were only measured in different states of the machine (S)"


@dataclass(frozen=True)
class Ratio:
    """Of two rates. With bound ">=" it may be more, with "<=" less."""

    value: float
    low: float
    high: float
    bound: Bound = "="

    @property
    def text(self) -> str:
        """ "6.42", "≥24.4"."""
        return SIGNS[self.bound] + numbers.times(self.value)

    @property
    def span(self) -> str:
        """ "6.10–6.80"; empty where there is no more than one value."""
        low, high = numbers.times(self.low), numbers.times(self.high)
        return "" if low == high else f"{low}–{high}"


ITSELF = Ratio(1.0, 1.0, 1.0)


def compared(found: Throughput, base: Throughput | None) -> Ratio | NoRatio:
    """The rate over the baseline's, same chain, frame size and goal."""
    if base is None or found.load_pps is None or not base.load_pps:
        return NoRatio.NO_RATE
    if found.out_of_time or base.out_of_time:
        return NoRatio.OUT_OF_TIME
    if found is base:
        return ITSELF
    return NoRatio.BOTH_BOUND if found.tester_bound and base.tester_bound else _ratio(found, base)


def _ratio(found: Throughput, base: Throughput) -> Ratio | NoRatio:
    """Of two single rates, one of which may be a bound."""
    bound: Bound = ">=" if found.tester_bound else "<=" if base.tester_bound else "="
    pairs = _of_pairs(found, base)
    if pairs:
        return Ratio(statistics.median(pairs), min(pairs), max(pairs), bound)
    if not _same_state(found, base):
        return NoRatio.OTHER_STATE
    found_pps, base_pps = found.load_pps or 0.0, base.load_pps or 1.0
    value = found_pps / base_pps
    # As far apart as the repeats allow.
    low = (found.load_min_pps or found_pps) / (base.load_max_pps or base_pps)
    high = (found.load_max_pps or found_pps) / (base.load_min_pps or base_pps)
    return Ratio(value, min(low, value), max(high, value), bound)


def _of_pairs(found: Throughput, base: Throughput) -> list[float]:
    """Of rounds in which both were found in the same state; of those with neither in a worse one, if any."""
    pairs = list(_pairs(found, base))
    best = [pair for pair in pairs if not any(map(_worse, pair))] or pairs
    return [one.load_pps / other.load_pps for one, other in best]


def _pairs(found: Throughput, base: Throughput) -> Iterator[tuple[RoundRate, RoundRate]]:
    there = {one.round: one for one in base.rounds if one.load_pps}
    for one in found.rounds:
        other = there.get(one.round)
        if other is not None and _same_state(one, other):
            yield one, other


def _worse(one: RoundRate) -> bool:
    return one.slower_times is not None or one.farther_times is not None


def _same_state(one: RoundRate | Throughput, other: RoundRate | Throughput) -> bool:
    """As far as known."""
    return (
        _apart(one.slower_times, other.slower_times) < SAME_PACE_TIMES
        and _apart(one.farther_times, other.farther_times) < SAME_DISTANCE_TIMES
    )


def _apart(times: float | None, others: float | None) -> float:
    low, high = sorted((times or 1.0, others or 1.0))
    return high / low
