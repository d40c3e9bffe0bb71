# SPDX-License-Identifier: Apache-2.0
"""What charts drawn as SVG have in common: axes, and values to lengths. Lengths are SVG user units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weir.report.page.markup import tag

WIDTH, HEIGHT = 400, 236
LEFT, RIGHT, TOP, BOTTOM = 54, 18, 12, 40


@dataclass(frozen=True)
class Axis:
    """One axis. `ticks`: at which values, and what is written there; none: by round numbers from 0."""

    label: str
    ticks: tuple[tuple[float, str], ...] = ()
    least: float = 0.0
    most: float | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class Scale:
    """Values to lengths."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool
    ticks: tuple[tuple[float, str], ...]

    @classmethod
    def of(cls, axis: Axis, values: Sequence[float], start: float, end: float) -> Scale:
        if axis.logarithmic:
            low = 10 ** math.floor(math.log10(min(values)))
            high = 10 ** math.ceil(math.log10(max(values) * 1.000001))
            count = round(math.log10(high / low))
            ticks = [(low * 10**step, _short(low * 10**step)) for step in range(count + 1)]
            return cls(low, high, start, end, logarithmic=True, ticks=tuple(ticks))
        high = axis.most if axis.most is not None else max(*values, axis.least)
        named = axis.ticks
        if not named:
            step = _round_step((high - axis.least) or 1.0)
            count = math.ceil(round((high - axis.least) / step, 9)) or 1
            high = high if axis.most is not None else axis.least + count * step
            named = tuple(
                (axis.least + index * step, _short(axis.least + index * step)) for index in range(count + 1)
            )
        return cls(axis.least, high, start, end, logarithmic=False, ticks=named)

    def at(self, value: float) -> float:
        """Where a value lies."""
        if self.logarithmic:
            share = math.log10(value / self.low) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + share * (self.end - self.start), 1)


def _round_step(span: float) -> float:
    """About five steps of 1, 2 or 5 times a power of ten."""
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


def grid(across: Scale, up: Scale) -> list[Markup]:
    """Lines across, and what is written beside both axes."""
    drawn = []
    for value, name in up.ticks:
        y = up.at(value)
        drawn.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="hair"))
        drawn.append(tag("text", name, x=LEFT - 6, y=y + 3.5, class_="up"))
    for value, name in across.ticks:
        drawn.append(tag("text", name, x=across.at(value), y=HEIGHT - BOTTOM + 14, class_="across"))
    return drawn


def labels(x: Axis, y: Axis) -> list[Markup]:
    """What each axis is of."""
    middle = (HEIGHT - BOTTOM + TOP) / 2
    return [
        tag("text", x.label, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 6, class_="across"),
        tag("text", y.label, x=11, y=middle, class_="across", transform=f"rotate(-90 11 {middle})"),
    ]
