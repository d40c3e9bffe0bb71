# SPDX-License-Identifier: Apache-2.0
"""The comparison page: runs against others, factor by factor, effects with their intervals as pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from weir.comparison import compare_several, several_text, text
from weir.lab.frames import frame_label
from weir.report.units import Written
from weir.results.comparison import Change, ComparedRun, Comparison
from weir.results.result import Result
from weir.store.database import UnknownRunError
from weir.store.store import Store
from weir.web import query
from weir.web.page import Page
from weir.web.reading import Reading
from weir.web.sparkline import forest, reach

SMALLEST = 0.03
"""As `weir compare` has it."""
NEWEST_FIRST = "newest-first"
"""As a lab's page lists its runs: the oldest is what the others are compared with."""
RUNS_MOST = 60
"""Of all sides."""


@dataclass(frozen=True)
class Line:
    """One side of one factor."""

    letter: str
    change: Change
    value: str
    effect: str
    interval: str
    picture: Markup | None


@dataclass(frozen=True)
class Row:
    """One factor."""

    way: str
    frame: str
    what: str
    base: str
    samples: int
    lines: Sequence[Line]


@dataclass(frozen=True)
class Group:
    """Of one chain and unit."""

    title: str
    scale: str
    """ "0.8 to 1.25 times", of the pictures."""
    rows: Sequence[Row]


@dataclass(frozen=True)
class Side:
    """Runs of the same."""

    letter: str
    names: str
    """As the address has them."""
    runs: Sequence[ComparedRun]
    said: str
    """What became of it; empty of the first."""


def page(reading: Reading, _path: object, asked: QueryParams) -> Page:
    """HTTPException for what cannot be compared. StoreError."""
    smallest = query.share(asked, "threshold", SMALLEST)
    sides = [one for one in asked.getlist("side") if one]
    if asked.get("order") == NEWEST_FIRST:
        sides.reverse()
    changed = asked.get("only") == "changed"
    shown: dict[str, Any] = {"smallest": smallest, "only": changed, "sides": [], "groups": []}
    if len(sides) < 2:
        return Page("compare", "Compare runs", shown | {"asked": sides})
    found = reading.remembered(
        ("compare", tuple(sides), smallest), lambda: _compared(reading, sides, smallest)
    )
    every = [change for comparison in found for change in comparison.changes]
    named = zip(several_text.LETTERS[1:], sides[1:], found, strict=False)
    fields = {
        "asked": sides,
        "sides": [
            Side("A", sides[0], found[0].before, ""),
            *(Side(letter, name, one.after, text.sentence(one)) for letter, name, one in named),
        ],
        "groups": _groups(found, smallest, changed=changed),
        "warnings": several_text.warnings(found) if len(found) > 1 else found[0].warnings,
        "meanings": text.meanings(every, smallest),
        "remarks": [(letter, list(text.remarks(one.changes))) for letter, one in _lettered(found)],
    }
    return Page("compare", "Comparison", shown | fields)


def _lettered(found: Sequence[Comparison]) -> list[tuple[str, Comparison]]:
    return list(zip(several_text.LETTERS[1:], found, strict=False))


def _compared(reading: Reading, sides: Sequence[str], smallest: float) -> list[Comparison]:
    named = [[name.strip() for name in side.split(",") if name.strip()] for side in sides]
    if len(sides) > len(several_text.LETTERS) or sum(map(len, named)) > RUNS_MOST:
        most = f"{len(several_text.LETTERS)} sides and {RUNS_MOST} runs"
        raise HTTPException(query.BAD_REQUEST, f"That is too much for one page: expected {most} at most.")
    if not all(named) or any("\0" in name for names in named for name in names):
        raise HTTPException(query.BAD_REQUEST, "side: expected ids of runs, with commas between.")
    with reading.store() as store:
        results = [[_loaded(store, name) for name in names] for names in named]
    runs = [run.id for side in results for run in side]
    twice = next((run for run in runs if runs.count(run) > 1), None)
    if twice is not None:
        raise HTTPException(query.BAD_REQUEST, f"{twice} is named twice: a run does not compare with itself.")
    return compare_several(results[0], results[1:], smallest)


def _loaded(store: Store, name: str) -> Result:
    try:
        return store.load(name, trials=False)
    except UnknownRunError as error:
        raise HTTPException(query.NOT_FOUND, f"{error}.") from error


def _groups(found: Sequence[Comparison], smallest: float, *, changed: bool) -> list[Group]:
    factors = [
        one
        for one in several_text.factors(found)
        if not changed or any(change.outcome in ("worse", "better") for _, change in one.changes)
    ]
    groups = []
    for chain, unit in dict.fromkeys((one.chain, one.any.unit) for one in factors):
        some = [one for one in factors if (one.chain, one.any.unit) == (chain, unit)]
        far = reach([change for one in some for _, change in one.changes], smallest)
        by = several_text.unit_for(some)
        rows = [_row(one, by, smallest, far) for one in some]
        groups.append(Group(f"{chain}, {by.label}", _scale(far), rows))
    return groups


def _row(of: several_text.Factor, by: Written, smallest: float, far: float) -> Row:
    lines = [
        Line(
            letter,
            change,
            text.after(change, by),
            text.effect(change),
            text.interval(change),
            forest(change, smallest, far),
        )
        for letter, change in of.changes
    ]
    base = text.before(of.any, by)
    return Row(of.way, frame_label(of.frame), of.what, base, of.any.samples_before, lines)


def _scale(far: float) -> str:
    return f"{math.expm1(-far):+.1%} to {math.expm1(far):+.1%}"
