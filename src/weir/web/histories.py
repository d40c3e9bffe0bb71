# SPDX-License-Identifier: Apache-2.0
"""A lab's histories, with the runs that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.comparison.trend import Key, trend
from weir.results.trend import Series
from weir.store import history
from weir.store.history import Point
from weir.store.selection import Selection
from weir.web.reading import Reading

RUNS_MOST = 100
"""Of a lab, the newest; as many as `weir trend` looks at."""
SMALLEST = 0.01
"""Steps below it do not matter; as `weir trend` has it."""


@dataclass(frozen=True)
class History:
    """One rate or delay on one host."""

    series: Series
    points: Sequence[Point]
    place: int
    """In the order of the lab."""

    def levels(self) -> list[float | None]:
        """That each point is on; None where there are too few to tell, and of those that do not count."""
        if self.series.noise is None:
            return [None] * len(self.points)
        begins = {change.run: change.after for change in self.series.changes}
        level = self.series.changes[0].before if self.series.changes else self.series.level
        found: list[float | None] = []
        for point in self.points:
            level = begins.get(point.run, level)
            found.append(level if point.comparable else None)
        return found


def key_of(series: Series) -> Key:
    """As the store has its figure."""
    one = series
    return one.chain, one.way, one.frame, one.what, one.unit, one.host, one.quick


def histories(reading: Reading, lab: str) -> list[History]:
    """Of all figures of the lab's newest runs, regressions first; none without a finished run. StoreError."""
    return reading.remembered(("histories", lab), lambda: read(reading, lab))


def read(reading: Reading, lab: str) -> list[History]:
    """The same, which nothing remembers."""
    with reading.store() as store:
        numbers = history.newest(store, lab, RUNS_MOST)
        figures = history.figures(store, Selection(runs=numbers), RUNS_MOST) if numbers else {}
        specs = history.specs(store, (point for points in figures.values() for point in points))
    places = {key: place for place, key in enumerate(figures)}
    found = trend(lab, figures, SMALLEST, specs).series
    return [History(one, figures[key_of(one)], places[key_of(one)]) for one in found]


def judged(found: Sequence[History]) -> int:
    """How many have enough runs to tell a level, and so a worse one."""
    return sum(one.series.noise is not None for one in found)


def latest(found: Sequence[History]) -> list[History]:
    """Those that the newest run has, or all runs of its campaign over hosts, in the order of the lab."""
    newest = max((one.points[-1] for one in found), key=lambda point: point.started_at, default=None)
    if newest is None:
        return []
    there = [one for one in found if _same(one.points[-1], newest)]
    return sorted(there, key=lambda one: one.place)


def measured(reading: Reading, of: Sequence[History]) -> Sequence[tuple[str, str, str]]:
    """Chain, technology or variant, and frame of all cases of the run that these are of; none of several
    runs, one a host. StoreError."""
    runs = {one.points[-1].run for one in of}
    if len(runs) != 1:
        return []
    with reading.store() as store:
        return history.cases(store, runs.pop())


def _same(one: Point, other: Point) -> bool:
    return one.run == other.run or (one.campaign is not None and one.campaign == other.campaign)
