# SPDX-License-Identifier: Apache-2.0
"""The front page: labs with their newest results, what became worse first."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.datastructures import QueryParams

from weir.comparison.trend_text import name as figure_name
from weir.store import listing
from weir.store.connection import NoStoreError, StoreError
from weir.store.listing import LabSummary
from weir.web import histories, tables
from weir.web.histories import History
from weir.web.page import Page
from weir.web.reading import Reading

IN_FULL = 20
"""Labs with their results; of others there is a line. All are judged."""
UNREADABLE = (StoreError, ValueError, TypeError, KeyError)
"""What documents and columns that something else wrote raise."""


@dataclass(frozen=True)
class Worse:
    """A figure that is on a worse level than before."""

    lab: str
    figure: str
    change: float
    since: str
    """A run's id."""
    started_at: str
    weir: str


@dataclass(frozen=True)
class Verdict:
    """On one lab."""

    judged: int = 0
    """Of its figures, those of which there are enough runs to tell a level."""
    worse: Sequence[Worse] = ()
    better: int = 0
    problem: str | None = None
    """Why its figures cannot be read."""


@dataclass(frozen=True)
class LabPart:
    """One lab on the page."""

    summary: LabSummary
    title: str
    tables: Sequence[tables.Table]
    figures: int
    """Of its newest run."""
    verdict: Verdict


@dataclass(frozen=True)
class LabLine:
    """One of the labs after these."""

    summary: LabSummary
    verdict: Verdict


def page(reading: Reading, _path: object, _query: QueryParams) -> Page:
    """StoreError if nothing can be read."""
    try:
        with reading.store() as store:
            labs = listing.labs(store)
    except NoStoreError as error:
        return Page(
            "front", "Labs", {"labs": [], "others": [], "worse": [], "runs": 0, "missing": str(error)}
        )
    parts = [_part(reading, one) for one in labs[:IN_FULL]]
    others = _others(reading, labs[IN_FULL:])
    verdicts = [*(one.verdict for one in parts), *(one.verdict for one in others)]
    fields: dict[str, Any] = {
        "labs": parts,
        "others": others,
        "worse": sorted((one for of in verdicts for one in of.worse), key=lambda one: -abs(one.change)),
        "judged": sum(of.judged for of in verdicts),
        "runs": sum(one.runs for one in labs),
        "missing": None,
    }
    return Page("front", "Labs", fields)


def _part(reading: Reading, lab: LabSummary) -> LabPart:
    found, verdict = _judged(lab.name, partial(histories.histories, reading, lab.name))
    newest = histories.latest(found)
    what = tables.main_figure(newest)
    cases = histories.measured(reading, newest)
    return LabPart(
        summary=lab,
        title=title(lab.document),
        tables=list(tables.tables(newest, what, cases)),
        figures=len(newest),
        verdict=verdict,
    )


def _others(reading: Reading, labs: Sequence[LabSummary]) -> list[LabLine]:
    """Their verdicts are remembered as one, without the histories: those of many labs would not fit."""
    names = tuple(one.name for one in labs)

    def judged() -> list[Verdict]:
        return [_judged(name, partial(histories.read, reading, name))[1] for name in names]

    verdicts = reading.remembered(("verdicts", names), judged) if names else []
    return [LabLine(*both) for both in zip(labs, verdicts, strict=True)]


def _judged(lab: str, read: Callable[[], Sequence[History]]) -> tuple[Sequence[History], Verdict]:
    try:
        found = read()
    except UNREADABLE as error:
        return (), Verdict(problem=str(error) or type(error).__name__)
    return found, Verdict(
        judged=histories.judged(found),
        worse=[_worse(lab, one) for one in found if one.series.regressed],
        better=sum(one.series.improved for one in found),
    )


def title(document: str) -> str:
    """Of a run's document; empty where it has none that can be read."""
    with suppress(ValueError, AttributeError):
        found = json.loads(document).get("title", "")
        return found.strip() if isinstance(found, str) else ""
    return ""


def _worse(lab: str, of: History) -> Worse:
    last = of.series.changes[-1]
    return Worse(lab, figure_name(of.series), last.change, last.run, last.started_at, last.weir)
