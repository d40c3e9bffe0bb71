# SPDX-License-Identifier: Apache-2.0
"""How a rate is said: as one number with its spread, or as an interval where the search ran out of time; the
letters beside it, which a reader must know before quoting it; and its ratio to the baseline.

Ratios are of pairs that were measured in the same round, with the interval of the pairs. A rate that the
tester limits is a bound, and so is a ratio with one of them. Rates that do not compare have no ratio, and a
reason.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from weir.base.packet_rate import MPPS, RateUnit, unit_of
from weir.report import numbers
from weir.results.fingerprint import SAME_DISTANCE_TIMES
from weir.results.result import RoundRate, Throughput

FLAGS = {
    "T": "tester-bound: within 10 % of what the tester itself can do; the system under test may do more",
    "M": "most that the lab allows: all of `measure.max_load_pps` was carried; the system under test may do "
    "more",
    "L": "out of time: the search's time limit came first; the answer is the interval that is shown",
    "S": "slower state: only measured while cores were slower, or slower to pass data to each other, than "
    "at their best on this machine, in this run or in earlier ones; a remark says how much",
    "D": "disturbed: more than half of the time of the trials that bound it, or of all where no rate was "
    "found, was left out, since others had a core",
    "R": "one round or repeat: it rests on that alone; the others could not be measured, or were made in a "
    "worse state of the machine; a remark has them",
    "U": "unsteady: just above it packets were lost in pauses of milliseconds, or far more than that load is "
    "too much: the system or the machine changed its speed; another search may find more or less",
    "I": "irregular: the search found no valid rate; the reason is given",
    "X": "given up; the reason is given",
}
OLDER = "; in this older result: stalls of the host can explain the loss that bounds it"
SAME_SPEED_TIMES = 1.15
"""Cores whose speed differs by less are in the same state of the machine; so are those as near to each other
as before (`SAME_DISTANCE_TIMES`)."""

Bound = Literal["=", ">=", "<="]
SIGNS: dict[Bound, str] = {"=": "", ">=": "≥", "<=": "≤"}


def single_pps(found: Throughput | None) -> float | None:
    """The rate, where there is one number for it."""
    return None if found is None or found.out_of_time else found.load_pps


def mpps(found: Throughput | None, between: str = "–", unit: RateUnit = MPPS) -> str:
    """ "2.113", or of an interval "2.113–3.051" in Mpps, or in the unit."""
    if found is None or found.interval_pps is None:
        return numbers.mpps(single_pps(found), unit)
    return between.join(map(unit.text, found.interval_pps))


def bounded_mpps(found: Throughput | None, between: str = "–", unit: RateUnit = MPPS) -> str:
    """Likewise with its sign where the tester or the lab bounds it: "≥2.113"."""
    bound = found is not None and found.at_least and found.interval_pps is None and found.load_pps
    return (SIGNS[">="] if bound else "") + mpps(found, between, unit)


def said(found: Throughput, between: str = "–") -> str:
    """ "2.113 Mpps", "21.30–24.10 kpps": with the unit that suits it."""
    unit = unit_of(greatest_pps([found]))
    return f"{mpps(found, between, unit)} {unit.label}"


def bounded(found: Throughput, between: str = "–") -> str:
    """Likewise with its sign."""
    unit = unit_of(greatest_pps([found]))
    return f"{bounded_mpps(found, between, unit)} {unit.label}"


def greatest_pps(rates: Iterable[Throughput]) -> Iterator[float]:
    """Of each that was found, for the unit in which all are said."""
    for one in rates:
        if one.load_pps is not None:
            yield max(one.interval_pps or (one.load_pps,))


def gbps(found: Throughput | None, between: str = "–") -> str:
    """The same in Gbit/s of L2."""
    if found is None or found.l2_bps is None or not found.load_pps:
        return numbers.NONE
    ends = found.interval_pps or (found.load_pps,)
    return between.join(numbers.gbps(end * (found.l2_bps / found.load_pps)) for end in ends)


def span_mpps(found: Throughput | None, unit: RateUnit = MPPS) -> str:
    """Lowest and highest repeat; nothing of an interval, which has them in it."""
    if found is None or found.out_of_time:
        return numbers.NONE
    return numbers.span_mpps(found.load_min_pps, found.load_max_pps, unit)


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


def flags(found: Throughput) -> str:
    """Letters of `FLAGS` that apply, in that order. X is of a case, not of a rate."""
    marks = {
        "T": found.tester_bound,
        "M": found.lab_bound,
        "L": found.out_of_time,
        "S": found.worse_state,
        "D": found.beside_others,
        "R": alone(found),
        "U": found.unsteady,
        "I": found.status == "irregular",
    }
    return "".join(letter for letter, applies in marks.items() if applies)


def alone(found: Throughput) -> bool:
    """Whether it rests on one search, though several were made."""
    return found.status == "found" and found.searches > 1 and found.repeats == 1


def worse_state(found: Throughput | RoundRate) -> str:
    """ "1.40 times slower and 4.60 times slower to pass data to each other"; empty: neither."""
    return state_text(found.slower_times or 1.0, found.farther_times or 1.0)


def state_text(slower_times: float, farther_times: float) -> str:
    """The same of both by themselves; 1: as at their best."""
    said = []
    if slower_times > 1:
        said.append(f"{slower_times:.2f} times slower")
    if farther_times > 1:
        said.append(f"{farther_times:.2f} times slower to pass data to each other")
    return " and ".join(said)


class NoRatio(StrEnum):
    """Why two rates have no ratio."""

    NO_RATE = "one of the two rates is missing"
    OUT_OF_TIME = "one of the two searches ran out of time"
    BOTH_BOUND = "both rates are bounds (T or M)"
    OTHER_STATE = "the two were only measured in different states of the machine (S)"
    OTHER_ROUNDS = "the two have no rate in the same round, and the machine may have changed between"


@dataclass(frozen=True)
class Ratio:
    """Of two rates. With bound ">=" it may be more, with "<=" less."""

    value: float
    low: float
    high: float
    bound: Bound = "="
    slower: bool = False
    """Of rounds in a slower state than the rates beside it, since in no other were both measured alike."""

    @property
    def text(self) -> str:
        """ "6.42", "≥24.4", "9.69 S"."""
        return SIGNS[self.bound] + numbers.times(self.value) + (" S" if self.slower else "")

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
    if not _share_a_round(found, base):
        return NoRatio.OTHER_ROUNDS
    pairs = _best_pairs(found, base)
    return _of_pairs(found, base, pairs) if pairs else _of_rates(found, base)


def _of_pairs(
    found: Throughput, base: Throughput, pairs: Sequence[tuple[RoundRate, RoundRate]]
) -> Ratio | NoRatio:
    """Of rounds, with the bound and the state of just those."""
    values = [one.load_pps / other.load_pps for one, other in pairs]
    # One above the median may be higher without moving it, and one below it lower.
    low, high = statistics.median_low(values), statistics.median_high(values)
    sign = _sign(
        any(_bound(one, found) for (one, _), value in zip(pairs, values, strict=True) if value <= high),
        any(_bound(other, base) for (_, other), value in zip(pairs, values, strict=True) if value >= low),
    )
    if sign is None:
        return NoRatio.BOTH_BOUND
    worse = any(rate.worse_state for pair in pairs for rate in pair)
    quoted_worse = found.worse_state or base.worse_state
    return Ratio(
        statistics.median(values), min(values), max(values), sign, slower=bool(worse and not quoted_worse)
    )


def _bound(one: RoundRate, whole: Throughput) -> bool:
    return one.lab_bound or (whole.tester_bound if one.tester_bound is None else one.tester_bound)


def _sign(found_bound: bool, base_bound: bool) -> Bound | None:
    """None: either may be more."""
    if found_bound and base_bound:
        return None
    return ">=" if found_bound else "<=" if base_bound else "="


def _of_rates(found: Throughput, base: Throughput) -> Ratio | NoRatio:
    """Of two single rates, one of which may be a bound."""
    sign = _sign(found.at_least, base.at_least)
    if sign is None:
        return NoRatio.BOTH_BOUND
    if not _same_state(found, base):
        return NoRatio.OTHER_STATE
    found_pps, base_pps = found.load_pps or 0.0, base.load_pps or 1.0
    value = found_pps / base_pps
    # As far apart as the repeats allow.
    low = (found.load_min_pps or found_pps) / (base.load_max_pps or base_pps)
    high = (found.load_max_pps or found_pps) / (base.load_min_pps or base_pps)
    return Ratio(value, min(low, value), max(high, value), sign)


def exceeds(found: Throughput, other: Throughput) -> bool:
    """Whether the numbers say that the one is higher: by all that their pairs, repeats and bounds allow."""
    ratio = compared(found, other)
    if ratio is NoRatio.OUT_OF_TIME:
        low, high = found.interval_pps or (found.load_pps or 0.0,), other.interval_pps or (other.load_pps,)
        return not other.at_least and min(low) > max(one or 0.0 for one in high)
    if ratio is NoRatio.OTHER_STATE and found.worse_state and not (other.worse_state or other.at_least):
        # In a better state it is no lower than that.
        return (found.load_min_pps or found.load_pps or 0.0) > max(
            other.load_max_pps or 0.0, other.load_pps or 0.0
        )
    if isinstance(ratio, NoRatio) or ratio.bound == "<=":
        return False
    if ratio.low < ratio.high:
        return ratio.low > 1
    # Of one search each: no farther apart than their own bounds is no difference.
    least_pps, most_pps = found.lower_bound_pps, other.upper_bound_pps
    return ratio.value > 1 and (least_pps is None or most_pps is None or least_pps > most_pps)


def _share_a_round(found: Throughput, base: Throughput) -> bool:
    """Whether some round has a rate of both; also where one of them knows no rounds."""
    those, others = ({one.round for one in rate.rounds if one.load_pps} for rate in (found, base))
    return not those or not others or not those.isdisjoint(others)


def _best_pairs(found: Throughput, base: Throughput) -> list[tuple[RoundRate, RoundRate]]:
    """Rounds in which both were found in the same state; those with neither in a worse one, if any."""
    pairs = list(_pairs(found, base))
    return [pair for pair in pairs if not any(one.worse_state for one in pair)] or pairs


def _pairs(found: Throughput, base: Throughput) -> Iterator[tuple[RoundRate, RoundRate]]:
    there = {one.round: one for one in base.rounds if one.load_pps}
    for one in found.rounds:
        other = there.get(one.round)
        if other is not None and _same_state(one, other):
            yield one, other


def _same_state(one: RoundRate | Throughput, other: RoundRate | Throughput) -> bool:
    """As far as known."""
    return (
        _apart(one.slower_times, other.slower_times) < SAME_SPEED_TIMES
        and _apart(one.farther_times, other.farther_times) < SAME_DISTANCE_TIMES
    )


def _apart(times: float | None, others: float | None) -> float:
    low, high = sorted((times or 1.0, others or 1.0))
    return high / low
