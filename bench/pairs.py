# SPDX-License-Identifier: Apache-2.0
"""Side by side: two measurements taken in turn, and the ratio of each pair.

The machine's speed drifts, so two figures are compared only where they stand side by side: A B, B A, …
The ratio quoted is the median over the pairs; min and max are its spread.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OUTPUT = Path(__file__).resolve().parent.parent / "build" / "bench"
PAIRS = 10


class SkipError(Exception):
    """The bench cannot run here; says what is missing."""


@dataclass(frozen=True)
class Line:
    """What one bench found. `ratio` is ours to the peer's: more is better for us, whatever is measured."""

    name: str
    ratio: float
    min: float
    max: float
    n: int
    target: float
    detail: dict[str, object] = field(default_factory=dict)

    def text(self) -> str:
        """`name ratio min max n`."""
        return f"{self.name} {self.ratio:.3f} {self.min:.3f} {self.max:.3f} {self.n}"

    def save(self) -> Path:
        """Writes build/bench/<name>.json and returns its path."""
        OUTPUT.mkdir(parents=True, exist_ok=True)
        path = OUTPUT / f"{self.name}.json"
        fields = {key: getattr(self, key) for key in ("name", "ratio", "min", "max", "n", "target")}
        path.write_text(json.dumps({**fields, **self.detail}, indent=2) + "\n")
        return path


def interleave(
    ours: Callable[[], float], peer: Callable[[], float], pairs: int = PAIRS
) -> list[tuple[float, float]]:
    """`pairs` pairs of (ours, peer), each measured back to back, the order changing from pair to pair."""
    taken: list[tuple[float, float]] = []
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
    name: str, taken: list[tuple[float, float]], *, target: float, unit: str, less_is_better: bool = False
) -> Line:
    """The Line of `taken` pairs. With `less_is_better` (times) the ratio is peer/ours."""
    ratios = [peer / ours if less_is_better else ours / peer for ours, peer in taken]
    detail: dict[str, object] = {
        f"ours_median_{unit}": statistics.median(ours for ours, _ in taken),
        f"peer_median_{unit}": statistics.median(peer for _, peer in taken),
    }
    return of_ratios(name, ratios, target=target, detail=detail)


def of_ratios(name: str, ratios: Sequence[float], *, target: float, detail: dict[str, object]) -> Line:
    """The Line of ratios that are known: their median, and their spread."""
    return Line(
        name, statistics.median(ratios), min(ratios), max(ratios), len(ratios), target=target, detail=detail
    )
