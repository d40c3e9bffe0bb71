# SPDX-License-Identifier: Apache-2.0
"""No two texts of the HTML report's charts lie on each other: names of axes, values above bars, captions,
keys; in headless Chromium, which tells where each was painted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from tests.unit.procedures.soak.looks import TakenSpan, run
from weir.results.case import TCP
from weir.results.result import Result

from .browser import needs_chromium
from .disturbed import disturbed
from .synthetic import result
from .test_page_in_browser import load

pytestmark = needs_chromium

WATCHING = Path(__file__).with_name("painted.js").read_text(encoding="utf-8")
MARKS = ("▾", "▿")
"""Of events: as close together as those were."""
TOUCH_PX = 1.0
"""Boxes may share so much at an edge: those of glyphs are rounded."""


@dataclass(frozen=True)
class Label:
    """A text on the page, and its box in pixels."""

    plot: str
    text: str
    left: float
    right: float
    top: float
    bottom: float
    of: str = "canvas"

    def overlaps(self, other: Label) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > TOUCH_PX and down > TOUCH_PX


def labels(made: Result, folder: Path, width_px: int) -> list[Label]:
    dom, console = load(made, folder, width_px, watching=WATCHING)
    assert not console
    said = dom.partition('<script id="painted" type="application/json">')[2].partition("</script>")[0]
    return [Label(**one) for one in json.loads(said) if one["text"] not in MARKS]


def overlapping(found: list[Label]) -> list[str]:
    """Pairs, in words."""
    return [
        f"{one.plot}: {one.text!r} on {other.text!r} of {other.plot}"
        for one, other in combinations(found, 2)
        if one.overlaps(other)
    ]


def soaked() -> Result:
    seen = run()
    for minute in range(12):
        away = [TakenSpan(1, minute * 10**10, minute * 10**10 + 10**9, "python3 (4711)")]
        seen.pass_by(delay_us=10 + 100 * (minute == 7), lost=minute == 5, losses=[(51.5, 1)], taken=away)
    made = result()
    made.setups = made.setups[:1]
    made.setups[0].cases = made.setups[0].cases[:1]
    made.setups[0].cases[0].soak = seen.recorder.soak
    return made


def crowded() -> Result:
    """One chain with twelve variants, every other one with a flag."""
    made = result()
    first = [one for one in made.setups if one.chain == made.setups[0].chain]
    made.setups = []
    for at in range(12):
        setup = first[at % len(first)].model_copy(deep=True)
        setup.variant = f"{setup.technology} variant {at}"
        for case in setup.cases:
            for found in case.throughput:
                found.tester_bound = at % 2 == 0
        made.setups.append(setup)
    made.baseline = made.setups[0].name
    return made


@pytest.mark.long
@pytest.mark.parametrize("width_px", [1400, 500])
@pytest.mark.parametrize("made", [result, disturbed, soaked, crowded])
def test_no_label_of_a_chart_lies_on_another(
    made: Callable[[], Result], tmp_path: Path, width_px: int
) -> None:
    found = labels(made(), tmp_path, width_px)
    assert {one.of for one in found} >= {"canvas", "figcaption", "li"}
    assert overlapping(found) == []


@pytest.mark.long
def test_what_was_not_searched_for_has_no_place_among_the_bars(tmp_path: Path) -> None:
    made = result()
    for setup in [one for one in made.setups if one.cases]:
        tcp = setup.cases[0].model_copy(deep=True)
        tcp.frame, tcp.throughput, tcp.curve = TCP, [], []
        setup.cases.append(tcp)
    painted = {one.text for one in labels(made, tmp_path, 1400)}
    assert "64 B" in painted
    assert not [text for text in painted if TCP in text.lower()]
