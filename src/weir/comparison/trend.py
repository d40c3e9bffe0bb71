# SPDX-License-Identifier: Apache-2.0
"""From figures run after run to a trend: levels, noise, and the run and revision where each level began."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, Protocol

from weir.comparison import lab_keys
from weir.comparison.exactness import exactness
from weir.comparison.levels import LASTS, Levels, levels
from weir.results.figures import LESS_IS_BETTER, Unit
from weir.results.trend import LabChange, Series, Trend, TrendChange

Key = tuple[str, str, str, str, Unit, str, bool]
"""Chain, technology or variant, frame, what, unit, host, whether it was a quick run."""
Specs = Mapping[str, Mapping[str, Any]]
"""Labs by their hashes."""


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
    @property
    def at_least(self) -> bool: ...
    @property
    def spec_sha256(self) -> str: ...


def trend(
    lab: str,
    figures: Mapping[Key, Sequence[Point]],
    smallest: float,
    specs: Specs,
    finished: Collection[str] = (),
) -> Trend:
    """Of all figures of a lab, regressions first. `smallest`: the share below which steps do not matter;
    `specs`: the labs that the points are of, as far as they can be read; `finished`: its runs by their ids,
    those without a figure too."""
    runs = {point.run for points in figures.values() for point in points}
    found = [series(of(key), points, smallest, specs) for key, points in figures.items()]
    return Trend(
        lab=lab,
        runs=len(runs),
        without_figures=len(set(finished) - runs),
        smallest=smallest,
        lab_changes=_lab_changes(figures, specs),
        series=regressions_first(found),
    )


def of(key: Key) -> Series:
    """A series without points."""
    chain, way, frame, what, unit, host, quick = key
    return Series(
        chain=chain,
        way=way,
        frame=frame,
        what=what,
        unit=unit,
        host=host,
        quick=quick,
        runs=0,
        latest=0.0,
        level=0.0,
    )


def series(bare: Series, points: Sequence[Point], smallest: float, specs: Specs) -> Series:
    """`bare`, which says of what it is, with what its points say; oldest first, one at least."""
    usable = [point for point in points if point.comparable]
    bare.runs, bare.left_out = len(points), len(points) - len(usable)
    refuted = points[-1].at_least and bool(usable) and points[-1].value > usable[-1].value
    bare.latest, bare.level = points[-1].value, (usable or points)[-1].value
    bare.latest_bound, bare.latest_left_out = points[-1].at_least, not points[-1].comparable
    if len(usable) < 2 * LASTS:
        # Too few to be a level: at least so much says more than what it is beyond.
        bare.level = bare.latest if refuted else bare.level
        return bare
    found = levels([point.value for point in usable], smallest, _resolution(bare, usable, specs))
    bare.level, bare.noise = found.middles[-1], found.noise
    bare.band_low, bare.band_high = bare.level * math.exp(-found.band), bare.level * math.exp(found.band)
    bare.smallest_seen = found.smallest_seen if math.isfinite(found.smallest_seen) else None
    bare.changes = [_change(bare, found, number, usable, specs) for number, step in enumerate(found.steps)]
    return bare


def _resolution(of: Series, points: Sequence[Point], specs: Specs) -> float:
    """Of the lab that knew them least exactly, as a share."""
    usual = statistics.median(point.value for point in points)
    labs = [specs.get(digest, {}) for digest in {point.spec_sha256 for point in points}]
    return max(exactness(of.unit, of.what, usual, lab) for lab in labs)


def _change(of: Series, found: Levels, number: int, points: Sequence[Point], specs: Specs) -> TrendChange:
    index = found.steps[number].index
    last, first = points[index - 1 : index + 1]
    before, after = found.middles[number : number + 2]
    rose = after > before
    better: Literal["worse", "better"] = "better" if rose != (of.unit in LESS_IS_BETTER) else "worse"
    # Noise moves where a step is seen by a run or so.
    keys = _keys_between(points[index - 2], points[index + 1], specs, of.way)
    return TrendChange(
        run=first.run,
        started_at=first.started_at,
        weir=first.weir,
        weir_before=last.weir,
        before=before,
        after=after,
        change=after / before - 1,
        p_value=found.steps[number].p_value,
        outcome="lab changed" if keys else better,
        lab_keys=keys,
    )


def _keys_between(one: Point, other: Point, specs: Specs, way: str = "") -> list[str]:
    if one.spec_sha256 == other.spec_sha256 or not {one.spec_sha256, other.spec_sha256} <= specs.keys():
        return []
    both = specs[one.spec_sha256], specs[other.spec_sha256]
    return lab_keys.of_figure(way, *both, same_weir=one.weir == other.weir)


def _lab_changes(figures: Mapping[Key, Sequence[Point]], specs: Specs) -> list[LabChange]:
    runs: dict[tuple[str, bool], dict[str, Point]] = {}
    for (*_, host, quick), points in figures.items():
        runs.setdefault((host, quick), {}).update({point.run: point for point in points})
    found = [
        LabChange(run=new.run, started_at=new.started_at, host=host, quick=quick, keys=keys)
        for (host, quick), points in runs.items()
        for old, new in pairwise(sorted(points.values(), key=lambda point: point.started_at))
        if (keys := _keys_between(old, new, specs))
    ]
    return sorted(found, key=lambda one: one.started_at)


def regressions_first(found: Sequence[Series]) -> list[Series]:
    """Those whose newest level is worse, the largest step first; then those that changed; then the others."""

    def rank(one: Series) -> tuple[int, float]:
        if not one.changes:
            return 2, 0.0
        return (0 if one.regressed else 1), -abs(one.changes[-1].change)

    return sorted(found, key=rank)
