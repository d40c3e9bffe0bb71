# SPDX-License-Identifier: Apache-2.0
"""Side by side: two measurements taken in turn, and the ratio of each pair.

The machine's speed drifts, so two figures are compared only where they stand side by side: A B, B A, …
The ratio quoted is the median over the pairs; min and max are its spread.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

PAIRS = 10
Measured = TypeVar("Measured")
"""A figure, or several of one measurement."""


class SkipError(Exception):
    """The bench cannot run here; says what is missing."""


@dataclass(frozen=True)
class Spread:
    """A ratio of ours to the peer's, median, least and greatest: more is better for us, whatever it is of."""

    ratio: float
    min: float
    max: float
    n: int

    def text(self) -> str:
        """`ratio min max n`."""
        return f"{self.ratio:.3f} {self.min:.3f} {self.max:.3f} {self.n}"


@dataclass(frozen=True)
class Line(Spread):
    """What one bench found."""

    name: str
    target: float | None
    """Of the median; None: nothing is asked for."""
    detail: dict[str, object] = field(default_factory=dict)
    generic: Spread | None = None
    """The same with ours compiled as the distribution compiles the peer, where that is part of the ratio."""

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None without one."""
        return None if self.target is None else self.ratio >= self.target

    def text(self) -> str:
        """`name ratio min max n`, and what it means."""
        said = f"{self.name} {super().text()}"
        if self.target is not None:
            said += f", {'met' if self.met else 'MISSED'} target {self.target:.3g}"
        if self.generic is not None:
            said += f"; ours built as the peer: {self.generic.text()}"
            if self.target is not None and self.generic.ratio < self.target:
                said += f", MISSED target {self.target:.3g}"
        return said


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
    """The Line of ratios that are known: their median, and their spread."""
    return Line(
        name=name,
        ratio=statistics.median(ratios),
        min=min(ratios),
        max=max(ratios),
        n=len(ratios),
        target=target,
        detail=detail,
    )
