# SPDX-License-Identifier: Apache-2.0
"""Blindly predicted against measured rates as one SVG picture: a dot for each set-up, with its interval; a
ring, what the model says of the state in which it was measured.

Lengths are SVG user units. It has its own colours, so that it is readable in a README and in a browser.
"""

from __future__ import annotations

import math

from markupsafe import Markup

from weir.report.page.markup import tag
from weir.results.model import ModelValidation

SIDE, LEFT, TOP, BOTTOM = 420, 52, 14, 44
LINES = 5
MARK, RING = 3.0, 4.5
INK, PALE, BLUE, ORANGE = "#333", "#bbb", "#2a6fb0", "#c66a00"


def picture(validation: ModelValidation) -> str:
    """The picture as a document. Below the line a prediction is too low."""
    most = _round_up(
        max(max(case.measured_pps, case.blind.high_pps, case.conditional.pps) for case in validation.cases)
        / 1e6
    )
    scale = (SIDE - TOP - BOTTOM) / most

    def across(mpps: float) -> str:
        return f"{LEFT + mpps * scale:.1f}"

    def up(mpps: float) -> str:
        return f"{SIDE - BOTTOM - mpps * scale:.1f}"

    grid: list[Markup] = []
    for number in range(LINES + 1):
        at = most * number / LINES
        grid += [
            _stroke(PALE, across(0), up(at), across(most), up(at)),
            _text(f"{at:g}", LEFT - 6, up(at), "end"),
            _text(f"{at:g}", across(at), SIDE - BOTTOM + 16, "middle"),
        ]
    marks: list[Markup] = []
    for case in validation.cases:
        blind, given = case.blind, case.conditional
        measured, predicted = across(case.measured_pps / 1e6), up(blind.pps / 1e6)
        held = blind.low_pps <= case.measured_pps <= blind.high_pps
        colour = BLUE if held else ORANGE
        said = (
            f"{case.name}: measured {case.measured_pps / 1e6:.3f}, predicted {blind.pps / 1e6:.3f}, "
            f"in its state {given.pps / 1e6:.3f}"
        )
        interval = _stroke(colour, measured, up(blind.low_pps / 1e6), measured, up(blind.high_pps / 1e6))
        dot = tag("circle", tag("title", said), cx=measured, cy=predicted, r=MARK, fill=colour)
        ring = tag("circle", cx=measured, cy=up(given.pps / 1e6), r=RING, fill="none", stroke=colour)
        marks += [interval, ring, dot]
    title = "Rates predicted and measured, Mpps, with 95 % intervals; rings: in the state that was found"
    document = tag(
        "svg",
        tag("title", title),
        tag("rect", width=SIDE, height=SIDE, fill="#fff"),
        grid,
        _stroke(INK, across(0), up(0), across(most), up(most)),
        marks,
        _text("measured, Mpps", across(most / 2), SIDE - 8, "middle"),
        _text("predicted, Mpps", 14, up(most / 2), "middle", turned=True),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {SIDE} {SIDE}",
        role="img",
        font_family="sans-serif",
        font_size=11,
    )
    return f"{document}\n"


def _round_up(mpps: float) -> float:
    """So that the grid has round numbers."""
    decade = 10.0 ** math.floor(math.log10(mpps / LINES))
    return LINES * decade * next(step for step in (1, 2, 3, 4, 5, 10) if LINES * decade * step >= mpps)


def _stroke(colour: str, x1: str, y1: str, x2: str, y2: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour)


def _text(said: str, x: float | str, y: float | str, anchor: str, *, turned: bool = False) -> Markup:
    turn = f"rotate(-90 {x} {y})" if turned else None
    return tag(
        "text", said, x=x, y=y, text_anchor=anchor, dominant_baseline="middle", fill=INK, transform=turn
    )
