# SPDX-License-Identifier: Apache-2.0
"""From figures run after run to a trend: levels, noise, and the run and revision where each level began."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from scipy.stats import norm

from weir.comparison.levels import LASTS, Levels, levels
from weir.results.trend import Series, Trend, TrendChange

INSIDE = float(norm.isf(0.025))
"""Standard deviations that 95 of 100 values are within."""


Key = tuple[str, str, str, str, str, str, bool]
"""Chain, technology or variant, frame, what, unit, host, whether it was a quick run."""


class Point(Protocol):
    """What one run found, as the store tells it."""

    @property
    def run(self) -> str: ...
    @property
    def started_at(self) -> str: ...
    @property
    def weir(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def comparable(self) -> bool: ...


def trend(lab: str, figures: Mapping[Key, Sequence[Point]], smallest: float) -> Trend:
    """Of all figures of a lab, regressions first. `smallest`: the share below which steps do not matter."""
    runs = {point.run for points in figures.values() for point in points}
    found = [series(of(key), points, smallest) for key, points in figures.items()]
    return Trend(lab=lab, runs=len(runs), smallest=smallest, series=regressions_first(found))


def of(key: Key) -> Series:
    """A series without points."""
    chain, way, frame, what, unit, host, quick = key
    return Series(
        chain=chain,
        way=way,
        frame=frame,
        what=what,
        unit="pps" if unit == "pps" else "us",
        host=host,
        quick=quick,
        runs=0,
        latest=0.0,
        level=0.0,
    )


def series(bare: Series, points: Sequence[Point], smallest: float) -> Series:
    """`bare`, which says of what it is, with what its points say; oldest first, one at least."""
    usable = [point for point in points if point.comparable]
    bare.runs, bare.left_out = len(points), len(points) - len(usable)
    bare.latest = bare.level = points[-1].value
    if len(usable) < 2 * LASTS:
        return bare
    found = levels([point.value for point in usable], smallest)
    bare.level, bare.noise = found.middles[-1], found.noise
    bare.band_low = bare.level * math.exp(-INSIDE * found.noise)
    bare.band_high = bare.level * math.exp(INSIDE * found.noise)
    bare.smallest_seen = found.smallest_seen if math.isfinite(found.smallest_seen) else None
    bare.changes = [
        _change(found, number, usable[step.index - 1], usable[step.index], bare.unit)
        for number, step in enumerate(found.steps)
    ]
    return bare


def _change(found: Levels, number: int, last: Point, first: Point, unit: str) -> TrendChange:
    before, after = found.middles[number : number + 2]
    better: Literal["worse", "better"] = "better" if (after > before) == (unit == "pps") else "worse"
    return TrendChange(
        run=first.run,
        started_at=first.started_at,
        weir=first.weir,
        weir_before=last.weir,
        before=before,
        after=after,
        change=after / before - 1,
        p_value=found.steps[number].p_value,
        outcome=better,
    )


def regressions_first(found: Sequence[Series]) -> list[Series]:
    """Those whose newest level is worse, the largest step first; then those that changed; then the others."""

    def rank(one: Series) -> tuple[int, float]:
        if not one.changes:
            return 2, 0.0
        return (0 if one.regressed else 1), -abs(one.changes[-1].change)

    return sorted(found, key=rank)
