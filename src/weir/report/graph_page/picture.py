# SPDX-License-Identifier: Apache-2.0
"""A host's network as one SVG: every box open, light or dark as the reader's system is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from weir.report.graph_page.drawing import HEAD, LETTER, OUTSIDE, ROW, Box, Line, Table, drawing
from weir.report.graph_page.stacking import Point, stacked
from weir.report.page import asset
from weir.report.page.markup import raw, tag
from weir.results.host_graph import HostGraph

MARGIN, LEAST_BEND = 24.0, 26.0
_END = 8.0
Home = Mapping[str, tuple[Box, Table, int]]


def render(graph: HostGraph) -> str:
    """A whole file. Ends with a newline."""
    drawn = drawing(graph)
    places, size = stacked(drawn.groups, {one.id: one.size for one in drawn.boxes}, OUTSIDE)
    home = drawn.home()
    title = f"The network of {graph.host}, {graph.looked_at}"
    width, height = size.width + 2 * MARGIN, size.height + 2 * MARGIN
    root = tag(
        "svg",
        tag("title", title),
        raw("style", asset("colours.css") + asset("drawing.css", "weir.report.graph_page")),
        tag("rect", width=f"{width:g}", height=f"{height:g}", class_="g-paper"),
        tag(
            "g",
            [_frame(one, places[one.id]) for one in drawn.boxes],
            [_line(one, home, places) for one in drawn.lines],
            [_box(one, places[one.id]) for one in drawn.boxes],
            transform=f"translate({MARGIN:g} {MARGIN:g})",
        ),
        xmlns="http://www.w3.org/2000/svg",
        width=f"{width:g}",
        height=f"{height:g}",
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def _frame(box: Box, at: Point) -> Markup:
    """Lines lie over it, and under what is in it."""
    width, height = f"{box.size.width:g}", f"{box.size.height:g}"
    return tag("rect", x=f"{at[0]:g}", y=f"{at[1]:g}", width=width, height=height, rx=5, class_="g-box")


def _box(box: Box, at: Point) -> Markup:
    said = f"  {box.said}" if box.said else ""
    return tag(
        "g",
        tag("text", box.title, tag("tspan", said, class_="g-dim"), x=10, y=19, class_="g-title"),
        [_table(one) for one in box.tables],
        transform=f"translate({at[0]:g} {at[1]:g})",
    )


def _table(table: Table) -> Markup:
    width = f"{table.size.width:g}"
    return tag(
        "g",
        tag("rect", width=width, height=f"{table.size.height:g}", rx=3, class_="g-table"),
        _head(table, table.title, width) if table.title is not None else None,
        list(_rows(table)),
        transform=f"translate({table.place[0]:g} {table.place[1]:g})",
    )


def _head(table: Table, title: str, width: str) -> list[Markup]:
    room = int((table.size.width - 14) / LETTER)
    return [
        tag("rect", width=width, height=f"{HEAD:g}", rx=3, class_="g-head"),
        tag(
            "text",
            shortened(title, room),
            x=8,
            y=15.5,
            class_=f"g-name{' g-differs' if table.differs else ''}",
        ),
    ]


def _rows(table: Table) -> Iterator[Markup]:
    for index, row in enumerate(table.rows):
        base = table.row_at(index) + ROW / 4 - 0.5
        look = f"{'' if row.up else ' g-down'}{' g-differs' if row.differs else ''}"
        room = table.size.width - 16 - LETTER * (len(row.name) + 2)
        yield tag("text", row.name, x=8, y=f"{base:g}", class_=f"g-row{look}")
        yield tag(
            "text",
            shortened(row.said, int(room / LETTER)),
            x=f"{table.size.width - 8:g}",
            y=f"{base:g}",
            text_anchor="end",
            class_="g-row g-dim",
        )


def shortened(text: str, letters: int) -> str:
    """With an ellipsis where it does not fit."""
    return text if len(text) <= letters else f"{text[: max(0, letters - 1)]}…"


def _line(line: Line, home: Home, places: Mapping[str, Point]) -> Markup:
    return tag("path", d=curve(line, home, places), class_=f"g-line g-{line.kind}")


def curve(line: Line, home: Home, places: Mapping[str, Point]) -> str:
    """From the side that faces the other end; both from the right where they lie above each other."""
    one, other = (_sides(end, home, places) for end in (line.first, line.second))
    if one[1] + _END <= other[0]:
        x1, x2, out, back = one[1], other[0], 1, -1
    elif other[1] + _END <= one[0]:
        x1, x2, out, back = one[0], other[1], -1, 1
    else:
        x1, x2, out, back = one[1], other[1], 1, 1
    bend = max(LEAST_BEND, abs(x2 - x1) / 2)
    y1, y2 = one[2], other[2]
    return f"M{x1:g} {y1:g}C{x1 + out * bend:g} {y1:g} {x2 + back * bend:g} {y2:g} {x2:g} {y2:g}"


def _sides(end: str, home: Home, places: Mapping[str, Point]) -> tuple[float, float, float]:
    """Left, right and height of a row."""
    box, table, index = home[end]
    x, y = places[box.id][0] + table.place[0], places[box.id][1] + table.place[1]
    return x, x + table.size.width, y + (HEAD / 2 if index < 0 else table.row_at(index))
