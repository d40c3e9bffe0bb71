# SPDX-License-Identifier: Apache-2.0
"""Small pictures in tables, as SVG: a history without axes, and an effect with its interval.

Lengths are SVG user units; colours come from the style sheet. What they show stands as text beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from weir.report.page.markup import tag
from weir.results.comparison import Change

WIDTH, HEIGHT, EDGE = 84, 18, 2.5
LEAST_POINTS = 3
FLAT = 0.05
"""Values that differ by less, as a share, do not fill the height: noise is not drawn as a mountain."""
FOREST_WIDTH, FOREST_HEIGHT = 190, 16
FOREST_MOST = math.log(4.0)
"""Effects beyond a fourth and four times are cut off there."""


def sparkline(values: Sequence[float]) -> Markup | None:
    """Values above 0, oldest first; None of fewer than three."""
    if len(values) < LEAST_POINTS:
        return None
    low, high = min(values), max(values)
    room = max(high - low, FLAT * high) or 1.0
    bottom = (low + high - room) / 2
    places = [
        (
            round(EDGE + index / (len(values) - 1) * (WIDTH - 2 * EDGE), 1),
            round(HEIGHT - EDGE - (value - bottom) / room * (HEIGHT - 2 * EDGE), 1),
        )
        for index, value in enumerate(values)
    ]
    line = tag("polyline", points=" ".join(f"{x},{y}" for x, y in places))
    last = tag("circle", cx=places[-1][0], cy=places[-1][1], r=2)
    return tag("svg", line, last, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="spark", aria_hidden="true")


def reach(changes: Sequence[Change], smallest: float) -> float:
    """How far from no change a column of effects goes, as a logarithm."""
    ends = [end for change in changes for end in (change.change, change.low, change.high) if end is not None]
    far = [abs(math.log1p(max(end, -1 + 1e-9))) for end in ends]
    return min(FOREST_MOST, 1.08 * max([*far, 2 * math.log1p(smallest), 0.01]))


def forest(change: Change, smallest: float, far: float) -> Markup | None:
    """An effect as a dot, its 95 % interval as a line; the band is what does not matter."""
    if change.change is None:
        return None
    middle, y = FOREST_WIDTH / 2, FOREST_HEIGHT / 2

    def at(share: float) -> float:
        logarithm = math.log1p(max(share, -1 + 1e-9))
        return round(middle + max(-1.0, min(1.0, logarithm / far)) * (middle - 4), 1)

    band = at(smallest) - at(-smallest)
    drawn = [
        tag("rect", x=at(-smallest), y=0, width=round(band, 1), height=FOREST_HEIGHT, class_="band"),
        tag("line", x1=middle, x2=middle, y1=0, y2=FOREST_HEIGHT, class_="zero"),
    ]
    if change.low is not None and change.high is not None:
        drawn.append(tag("line", x1=at(change.low), x2=at(change.high), y1=y, y2=y, class_="interval"))
    drawn.append(tag("circle", cx=at(change.change), cy=y, r=3.5))
    return tag(
        "svg",
        drawn,
        viewBox=f"0 0 {FOREST_WIDTH} {FOREST_HEIGHT}",
        class_=f"forest {change.outcome.replace(' ', '-')}",
        aria_hidden="true",
    )
