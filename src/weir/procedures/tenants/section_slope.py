# SPDX-License-Identifier: Apache-2.0
"""What each tenant more that sends takes off what all of them together get through: a fitted line."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weir.procedures.tenants.section_doubts import ONCE, in_doubt, once
from weir.procedures.tenants.section_rows import Row, rows
from weir.results.result import Result, Throughput

CONFIDENCE = 0.95
_FEWEST = 3
"""Points without which a line has no interval."""


@dataclass(frozen=True)
class Slope:
    """Of rate over tenants that send, by least squares; shares of the rate of the fewest."""

    goal: str
    of: str
    """ "64 B"; "64 B, none"."""
    fewest: int
    most: int
    share: float
    """One more; negative: all together get less."""
    low: float
    high: float
    """Its interval, 95 %: of the line through the repeats on this machine, not of machines."""
    once: bool = False
    """Of one repeat of some number of tenants: there is no interval of repeats."""
    besides: str = ""
    """What was left out, and which rates are doubtful, as the end of a sentence."""

    @property
    def reading(self) -> str:
        """ "-9.8% (95 %: -11.0% to -8.6%)"; "-9.8% (one repeat)"."""
        return f"{self.share:+.1%} ({self._certain()})"

    def sentence(self) -> str:
        """With the tenants that it is fitted over, what its shares are of, and its interval."""
        does, way = ("adds", "to") if self.share > 0 else ("takes", "off")
        doubtful = not self.once and self.low <= 0 <= self.high
        return (
            f"{self.goal} at {self.of}, from {self.fewest} to {self.most} tenants that send: each one more "
            f"{does} {abs(self.share):.1%} of the rate of {self.fewest} {way} all together "
            f"({self._certain()}){', which may be nothing' if doubtful else ''}{self.besides}."
        )

    def _certain(self) -> str:
        return ONCE if self.once else f"95 %: {self.low:+.1%} to {self.high:+.1%}"


@dataclass(frozen=True)
class _Rates:
    """Of one goal and frame, by tenants that send."""

    goal: str
    of: str
    every: tuple[tuple[Row, Throughput], ...]

    @property
    def usable(self) -> list[tuple[Row, Throughput]]:
        """Single numbers: neither bounds nor intervals."""
        return [(row, one) for row, one in self.every if not (one.at_least or one.out_of_time)]

    @property
    def left_out(self) -> str:
        """Those of the others: "1 of 4, 2 of 4"; empty: none."""
        bounds = [row.setup.chain for row, one in self.every if one.at_least or one.out_of_time]
        return ", ".join(bounds)

    def slope(self) -> Slope | None:
        """With what it says of these rates."""
        used = self.usable
        points = [(len(row.record.tenants), rate) for row, one in used for rate in repeats_pps(one)]
        found = fitted(self.goal, self.of, points)
        if found is None:
            return None
        without = f"; without {self.left_out}, of which only bounds are known" if self.left_out else ""
        doubtful = in_doubt((row.setup.chain, row, one) for row, one in used)
        return replace(found, once=once(*(one for _, one in used)), besides=without + doubtful)


def slopes(result: Result, least: int = 1, most: int | None = None) -> list[Slope]:
    """Of each goal and frame that several numbers of tenants, from `least` to `most`, have a rate of."""
    found = (one.slope() for one in _rates(result, least, most))
    return [one for one in found if one is not None]


def untold(result: Result) -> Iterator[str]:
    """Sentences on goals and frames whose rates are bounds, so that there is no slope."""
    for one in _rates(result, 1, None):
        if len(one.every) > 1 and one.left_out and one.slope() is None:
            said = f"only bounds are known of the rates of {one.left_out}"
            yield f"{one.goal} at {one.of}: what a tenant more costs is not told, since {said}."


def _rates(result: Result, least: int, most: int | None) -> Iterator[_Rates]:
    found: dict[tuple[str, str], list[tuple[Row, Throughput]]] = {}
    for row in rows(result):
        number = len(row.record.tenants)
        if number >= least and (most is None or number <= most):
            for one in row.case.throughput:
                if one.load_pps:
                    found.setdefault((one.goal, row.frame), []).append((row, one))
    yield from (_Rates(goal, of, tuple(every)) for (goal, of), every in found.items())


def repeats_pps(found: Throughput) -> list[float]:
    """What each repeat found, in packets a second. Of more than three, results keep the least, the median and
    the greatest: the others are taken to lie between these as those of a normal distribution do."""
    middle = found.load_pps or 0.0
    below = middle - (found.load_min_pps or middle)
    above = (found.load_max_pps or middle) - middle
    count = found.repeats
    normal = statistics.NormalDist()  # where the n-th of so many lies: Blom's plotting positions
    scores = [normal.inv_cdf((number - 0.375) / (count + 0.25)) for number in range(1, count + 1)]
    farthest = scores[-1] or 1.0
    return [middle + score / farthest * (above if score > 0 else below) for score in scores]


def fitted(goal: str, of: str, points: Sequence[tuple[int, float]]) -> Slope | None:
    """`points`: tenants, and a rate, once for each repeat. None for fewer than two numbers of them, for too
    few to tell an interval, or where all rates are the same."""
    numbers = sorted({number for number, _ in points})
    if len(numbers) < 2 or len(points) < _FEWEST or all(one == points[0][1] for _, one in points):
        return None
    from scipy import stats

    base = statistics.median(rate for number, rate in points if number == numbers[0])
    line = stats.linregress([float(number) for number, _ in points], [rate for _, rate in points])
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(points) - 2)) * float(line.stderr)
    slope = float(line.slope)
    return Slope(
        goal=goal,
        of=of,
        fewest=numbers[0],
        most=numbers[-1],
        share=slope / base,
        low=(slope - reach) / base,
        high=(slope + reach) / base,
    )
