# SPDX-License-Identifier: Apache-2.0
"""Small line charts as SVG, for the figures that standards ask for; they print, and need no script.

Colours and dashes come from the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weir.report.page.chart_axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Scale,
    grid,
    labels,
)
from weir.report.page.markup import tag

LOOKS = 6  # of lines, then they repeat
MARK = 2.6


@dataclass(frozen=True)
class Line:
    """Points from left to right; `look` is a number of a colour, None: the limit that others are held to."""

    name: str
    points: tuple[tuple[float, float], ...]
    look: int | None = 0
    marks: bool = True
    """A dot at each point; none where points are many."""


def line_chart(title: str, lines: Sequence[Line], x: Axis, y: Axis) -> Markup | None:
    """A figure with its key; None without points."""
    points = [point for line in lines for point in line.points]
    if not points:
        return None
    across = Scale.of(x, [at for at, _ in points], LEFT, WIDTH - RIGHT)
    up = Scale.of(y, [value for _, value in points], HEIGHT - BOTTOM, TOP)
    drawn = [mark for line in lines for mark in _line(line, across, up)]
    body: list[Markup] = [*grid(across, up), *drawn, *labels(x, y)]
    picture = tag(
        "svg",
        tag("title", title),
        body,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="chart",
    )
    keys = [
        tag("li", tag("i", class_=f"stroke {_look(line)}"), line.name) for line in lines if len(lines) > 1
    ]
    return tag("figure", tag("figcaption", title), picture, tag("ul", keys, class_="keys") if keys else None)


def _look(line: Line) -> str:
    return "limit" if line.look is None else f"l{line.look % LOOKS}"


def _line(line: Line, across: Scale, up: Scale) -> list[Markup]:
    places = [(across.at(x), up.at(y)) for x, y in line.points]
    path = " ".join(f"{x},{y}" for x, y in places)
    drawn = [tag("polyline", points=path, class_=f"line {_look(line)}")]
    if line.look is not None and line.marks:
        drawn += [tag("circle", cx=x, cy=y, r=MARK, class_=_look(line)) for x, y in places]
    return drawn
