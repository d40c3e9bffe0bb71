# SPDX-License-Identifier: Apache-2.0
"""What each tenant more that sends, or each shared function more in the way, takes off what all of them
together get through: a fitted line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.base.si import US_PER_S
from weir.procedures.tenants.section_rows import SHARED, Row, rows
from weir.report.summary import frame_label
from weir.results.result import Result
from weir.results.tenants import Senders

CONFIDENCE = 0.95
_FEWEST = 3
"""Points without which a line has no interval."""
More = Literal["tenant", "function"]
WORDS: dict[More, str] = {"tenant": "tenant more that sends", "function": "shared function more in the way"}


@dataclass(frozen=True)
class Slope:
    """Of rate over tenants or functions, by least squares; shares of the rate of the fewest."""

    goal: str
    of: str
    """ "64 B"; "64 B, 4 of 4"."""
    fewest: int
    most: int
    share: float
    """One more; negative: all together get less."""
    low: float
    high: float
    """Its interval, 95 %: of the repeats on this machine, not of machines."""
    more: More = "tenant"

    @property
    def reading(self) -> str:
        """ "-9.8% (95 %: -11.0% to -8.6%)"."""
        return f"{self.share:+.1%} (95 %: {self.low:+.1%} to {self.high:+.1%})"

    def sentence(self) -> str:
        """With its interval."""
        word = "more" if self.share > 0 else "less"
        certain = "" if self.low * self.high > 0 else ", which may be nothing"
        return (
            f"{self.goal} at {self.of}: each {WORDS[self.more]}, from {self.fewest} to {self.most}, makes it "
            f"{abs(self.share):.1%} {word} for all together "
            f"(95 %: {self.low:+.1%} to {self.high:+.1%}){certain}."
        )


def slopes(result: Result) -> list[Slope]:
    """Of each goal and frame that several numbers of tenants, or of shared functions, have a rate of."""
    return [
        *_fitted(result, "tenant", lambda row: row.frame, lambda row: len(row.record.tenants)),
        *_fitted(result, "function", _with_functions, lambda row: shared_functions(row.record)),
    ]


def costs(result: Result) -> list[str]:
    """Sentences on all of them."""
    return [*(one.sentence() for one in slopes(result)), *(one.sentence() for one in added(result))]


def shared_functions(record: Senders) -> int:
    """In the way of those that share some."""
    return max((sum(map(_is_shared, through)) for through in record.through.values()), default=0)


@dataclass(frozen=True)
class Added:
    """What one shared function more costs, by the rate with it and without it."""

    goal: str
    of: str
    function: str
    us: float
    """Time that a packet more takes of all that works on its way together."""
    low: float
    high: float
    """From the farthest repeats."""
    once: bool = False
    """Of one repeat: there is no spread."""

    def sentence(self) -> str:
        """ "PDR at 64 B, bridge-filter, 4 of 4: dpi adds 34.5 µs to each packet (30.1 to 39.9)."""
        return (
            f"{self.goal} at {self.of}: {self.function} adds {self.us:,.1f} µs to each packet "
            f"({'one repeat' if self.once else f'{self.low:,.1f} to {self.high:,.1f}'})."
        )


def added(result: Result) -> list[Added]:
    """Of each shared function that a cloud has more than another one that is like it but for that."""
    found: list[Added] = []
    every = rows(result)
    for row in every:
        number = shared_functions(row.record)
        before = [
            one
            for one in every
            if _with_functions(one) == _with_functions(row) and shared_functions(one.record) == number - 1
        ]
        for one in before[:1]:
            found += _added(row, one)
    return found


def _added(row: Row, before: Row) -> Iterator[Added]:
    names = next(through for through in row.record.through.values() if any(map(_is_shared, through)))
    rates = {one.goal: one for one in before.case.throughput if one.load_pps}
    for one in row.case.throughput:
        other = rates.get(one.goal)
        if one.load_pps and other is not None and other.load_pps:
            fewest, most = one.load_min_pps or one.load_pps, one.load_max_pps or one.load_pps
            less, more = other.load_min_pps or other.load_pps, other.load_max_pps or other.load_pps
            yield Added(
                goal=one.goal,
                of=_with_functions(row),
                function=names[-1].removeprefix(SHARED),
                us=US_PER_S / one.load_pps - US_PER_S / other.load_pps,
                low=US_PER_S / most - US_PER_S / less,
                high=US_PER_S / fewest - US_PER_S / more,
                once=one.repeats == 1 or other.repeats == 1,
            )


def _is_shared(name: str) -> bool:
    return name.startswith(SHARED)


def _with_functions(row: Row) -> str:
    """What clouds have in common that differ in their shared functions alone."""
    return f"{frame_label(row.case.frame)} B, {row.setup.technology}, {row.setup.chain}"


def _fitted(
    result: Result, more: More, of: Callable[[Row], str], number: Callable[[Row], int]
) -> Iterator[Slope]:
    points: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in rows(result):
        for one in row.case.throughput:
            rates = (one.load_pps, one.load_min_pps, one.load_max_pps)
            known = [rate for rate in rates if rate is not None]
            known = known if one.repeats > 1 else known[:1]
            place = points.setdefault((one.goal, of(row)), [])
            place += [(number(row), rate) for rate in known]
    found = (fitted(goal, where, some, more) for (goal, where), some in points.items())
    yield from (one for one in found if one is not None)


def fitted(goal: str, of: str, points: Sequence[tuple[int, float]], more: More = "tenant") -> Slope | None:
    """`points`: tenants or functions, and a rate, once for each repeat that is known. None for fewer than two
    numbers of them, or where each has a single rate and no interval can be told."""
    numbers = sorted({number for number, _ in points})
    if len(numbers) < 2 or len(points) < _FEWEST or all(one == points[0][1] for _, one in points):
        return None
    from scipy import stats

    first = [rate for number, rate in points if number == numbers[0]]
    base = sum(first) / len(first)
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
        more=more,
    )
