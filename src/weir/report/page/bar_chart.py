# SPDX-License-Identifier: Apache-2.0
"""Bars of several series beside each other as SVG, with whiskers and a number each; they print, and need no
script. Lengths are SVG user units. Colours come from the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weir.report.page.chart_axes import BOTTOM, RIGHT, TOP, WIDTH, Axis, Scale
from weir.report.page.markup import tag

BAR, BETWEEN, APART = 10, 2, 10
LETTER, LEFT_MIN, LEFT_MAX = 6.2, 50, 170  # room for names
LABEL = 76  # and for what is written behind bars


@dataclass(frozen=True)
class Bar:
    """`low`, `high`: where its whisker ends; equal: it has none. `label`: what is written behind it."""

    value: float
    low: float
    high: float
    label: str


@dataclass(frozen=True)
class Group:
    """The bars of one name, one for each series; None: that one has no number there."""

    name: str
    bars: tuple[Bar | None, ...]


def bar_chart(
    title: str, series: Sequence[str], groups: Sequence[Group], x: Axis, mark: float
) -> Markup | None:
    """A figure with its key, and a line at `mark`; without series that have no number. None if none has."""
    shown = [index for index in range(len(series)) if any(group.bars[index] for group in groups)]
    if not shown:
        return None
    height = len(shown) * (BAR + BETWEEN) + APART
    bottom = TOP + len(groups) * height
    longest = max(len(group.name) for group in groups)
    left = min(LEFT_MAX, max(LEFT_MIN, round(12 + LETTER * longest)))
    bars = [bar for group in groups for bar in group.bars if bar is not None]
    across = Scale.of(x, [mark, *(bar.high for bar in bars)], left, WIDTH - RIGHT - LABEL)
    drawn = [*_grid(across, mark, bottom), tag("text", x.label, x=left, y=bottom + 32)]
    for index, group in enumerate(groups):
        drawn += _group(group, shown, TOP + index * height, across)
    picture = tag(
        "svg",
        tag("title", title),
        drawn,
        viewBox=f"0 0 {WIDTH} {bottom + BOTTOM}",
        role="img",
        class_="chart",
    )
    keys = [tag("li", tag("i", class_=f"block b{index}"), series[index]) for index in shown]
    return tag("figure", tag("figcaption", title), picture, tag("ul", keys, class_="keys"))


def _grid(across: Scale, mark: float, bottom: float) -> Iterator[Markup]:
    for value, name in across.ticks:
        at = across.at(value)
        yield tag("line", x1=at, x2=at, y1=TOP, y2=bottom, class_="hair")
        yield tag("text", name, x=at, y=bottom + 14, class_="across")
    yield tag("line", x1=across.at(mark), x2=across.at(mark), y1=TOP, y2=bottom, class_="limit")


def _group(group: Group, shown: Sequence[int], top: float, across: Scale) -> Iterator[Markup]:
    middle = top + len(shown) * (BAR + BETWEEN) / 2
    yield tag("text", group.name, x=across.start - 7, y=middle + 3, class_="up")
    for place, index in enumerate(shown):
        bar = group.bars[index]
        if bar is not None:
            yield from _bar(bar, top + place * (BAR + BETWEEN), index, across)


def _bar(bar: Bar, top: float, index: int, across: Scale) -> Iterator[Markup]:
    end, middle = across.at(bar.value), top + BAR / 2
    yield tag(
        "rect", x=across.start, y=top, width=round(end - across.start, 1), height=BAR, class_=f"b{index}"
    )
    if bar.low < bar.high:
        yield tag("line", x1=across.at(bar.low), x2=across.at(bar.high), y1=middle, y2=middle, class_="span")
    behind = across.at(max(bar.value, bar.high))
    yield tag("text", bar.label, x=behind + 5, y=middle + 3.5, class_="said")
