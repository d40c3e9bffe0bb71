# SPDX-License-Identifier: Apache-2.0
"""Side by side: two measurements taken in turn, and the ratio of each pair.

The machine's speed drifts, so two figures are compared only where they stand side by side: A B, B A, …
The ratio quoted is the median over the pairs; min and max are its spread. Whether a target is met is said of
the interval that holds the median of all pairs that could have been taken, not of the median found.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

PAIRS = 10
LEVEL = 0.90
"""Of the interval, two-sided: the median is below it in at most 5 of 100, and above it in as many."""
Verdict = Literal["met", "MISSED", "not told"]
Measured = TypeVar("Measured")
"""A figure, or several of one measurement."""


class SkipError(Exception):
    """The bench cannot run here; says what is missing."""


def fewest() -> int:
    """Pairs, with fewer of which there is no interval at `LEVEL`: five."""
    return math.ceil(math.log2(2 / (1 - LEVEL)))


def interval(pairs: Sequence[float]) -> tuple[float, float] | None:
    """That of the median, of order statistics: whatever the distribution, of pairs that know nothing of each
    other. The median lies below the k-th least of n with the chance that fewer than k of n coins are heads.

    None of too few pairs.
    """
    ordered, n = sorted(pairs), len(pairs)
    below, rank = 0.0, 0
    while (below := below + math.comb(n, rank) / 2**n) <= (1 - LEVEL) / 2:
        rank += 1
    return (ordered[rank - 1], ordered[n - rank]) if rank else None


def within(low_high: tuple[float, float] | None, target: float) -> Verdict:
    """The verdict of an interval, or of none."""
    if low_high is None or low_high[0] < target <= low_high[1]:
        return "not told"
    return "met" if target <= low_high[0] else "MISSED"


@dataclass(frozen=True)
class Spread:
    """A ratio of ours to the peer's, median, least and greatest: more is better for us, whatever it is of."""

    ratio: float
    min: float
    max: float
    n: int
    pairs: tuple[float, ...] | None = field(default=None, kw_only=True)
    """None: it is one figure of the whole, as a share of cases or the worst of them."""

    def verdict(self, target: float) -> Verdict:
        """Whether the target is reached; "not told" where the interval of the median holds it, or where
        there are too few pairs for one. One figure of the whole is taken as it stands."""
        if self.pairs is None:
            return within((self.ratio, self.ratio), target)
        return within(interval(self.pairs), target)

    def text(self) -> str:
        """`ratio min max n`."""
        return f"{self.ratio:.3f} {self.min:.3f} {self.max:.3f} {self.n}"


@dataclass(frozen=True)
class Line(Spread):
    """What one bench found."""

    name: str
    target: float | None
    """None: nothing is asked for."""
    detail: dict[str, object] = field(default_factory=dict)
    generic: Spread | None = None
    """The same with ours compiled as the distribution compiles the peer, where that is part of the ratio."""

    def text(self) -> str:
        """`name ratio min max n`, and what it means."""
        said = f"{self.name} {super().text()}"
        if self.target is not None:
            said += f", {_said(self, self.target)}"
        if self.generic is not None:
            said += f"; ours built as the peer: {self.generic.text()}"
            if self.target is not None and self.generic.verdict(self.target) != "met":
                said += f", {_said(self.generic, self.target)}"
        return said


def _said(of: Spread, target: float) -> str:
    verdict = of.verdict(target)
    if verdict != "not told":
        return f"{verdict} target {target:.3g}"
    few = of.n < fewest()
    why = f"fewer pairs than {fewest()}" if few else "the median of the pairs may lie on either side"
    return f"not told whether it meets target {target:.3g}: {why}"


def interleave(
    ours: Callable[[], Measured], peer: Callable[[], Measured], pairs: int = PAIRS
) -> list[tuple[Measured, Measured]]:
    """`pairs` pairs of (ours, peer), each measured back to back, the order changing from pair to pair."""
    taken: list[tuple[Measured, Measured]] = []
    for index in range(pairs):
        if index % 2 == 0:
            a = ours()
            b = peer()
        else:
            b = peer()
            a = ours()
        taken.append((a, b))
    return taken


def line(
    name: str,
    taken: list[tuple[float, float]],
    *,
    target: float | None,
    unit: str,
    less_is_better: bool = False,
) -> Line:
    """The Line of `taken` pairs. With `less_is_better` (times) the ratio is peer/ours."""
    ratios = [peer / ours if less_is_better else ours / peer for ours, peer in taken]
    detail: dict[str, object] = {
        f"ours_median_{unit}": statistics.median(ours for ours, _ in taken),
        f"peer_median_{unit}": statistics.median(peer for _, peer in taken),
    }
    return of_ratios(name, ratios, target=target, detail=detail)


def of_ratios(name: str, ratios: Sequence[float], *, target: float | None, detail: dict[str, object]) -> Line:
    """The Line of ratios that are known: their median, their spread, and themselves."""
    return Line(
        name=name,
        ratio=statistics.median(ratios),
        min=min(ratios),
        max=max(ratios),
        n=len(ratios),
        pairs=tuple(ratios),
        target=target,
        detail=detail,
    )


def one_figure(name: str, ratio: float, *, n: int, target: float | None, detail: dict[str, object]) -> Line:
    """The Line of one figure of the whole, a share or the worst of `n` cases: nothing of it is a pair."""
    return Line(name=name, ratio=ratio, min=ratio, max=ratio, n=n, target=target, detail=detail)
