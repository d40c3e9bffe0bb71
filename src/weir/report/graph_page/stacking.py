# SPDX-License-Identifier: Apache-2.0
"""Where things go whose columns are known. The page does the same when a box is folded (stacking.js)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.report.graph_page.layers import Columns

ASPECT = 1.6
"""Of the whole drawing, about."""


@dataclass(frozen=True)
class Size:
    """Of one thing, or of a drawing."""

    width: float
    height: float


@dataclass(frozen=True)
class Gaps:
    """Between columns, between things of a column, between groups."""

    across: float
    down: float
    around: float


Point = tuple[float, float]


def stacked(
    groups: Sequence[Columns], sizes: Mapping[str, Size], gaps: Gaps
) -> tuple[dict[str, Point], Size]:
    """The upper left corner of each thing, and the size of all. Columns are centred; groups fill rows."""
    made = [_columns(columns, sizes, gaps) for columns in groups]
    area = sum((size.width + gaps.around) * (size.height + gaps.around) for _, size in made)
    most = max([math.sqrt(area * ASPECT), *(size.width for _, size in made)])
    places: dict[str, Point] = {}
    x = y = row = width = 0.0
    for inside, size in made:
        if x and x + size.width > most:
            x, y, row = 0.0, y + row + gaps.around, 0.0
        places |= {name: (x + left, y + top) for name, (left, top) in inside.items()}
        width, row = max(width, x + size.width), max(row, size.height)
        x += size.width + gaps.around
    return places, Size(width, y + row)


def _columns(columns: Columns, sizes: Mapping[str, Size], gaps: Gaps) -> tuple[dict[str, Point], Size]:
    tall = [sum(sizes[name].height + gaps.down for name in column) - gaps.down for column in columns]
    places: dict[str, Point] = {}
    x, height = 0.0, max(tall)
    for column, own in zip(columns, tall, strict=True):
        y, wide = (height - own) / 2, max(sizes[name].width for name in column)
        for name in column:
            places[name] = (x + (wide - sizes[name].width) / 2, y)
            y += sizes[name].height + gaps.down
        x += wide + gaps.across
    return places, Size(x - gaps.across, height)
