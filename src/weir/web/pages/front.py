# SPDX-License-Identifier: Apache-2.0
"""The front page: labs with their newest results, what became worse first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
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
"""Labs with their results; of others there is a line."""
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
class LabPart:
    """One lab on the page."""

    summary: LabSummary
    title: str
    tables: Sequence[tables.Table]
    figures: int
    """Of its newest run."""
    judged: int
    """Of its figures, those of which there are enough runs to tell a level."""
    worse: Sequence[Worse]
    better: int
    problem: str | None


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
    worse = sorted((one for part in parts for one in part.worse), key=lambda one: -abs(one.change))
    fields: dict[str, Any] = {
        "labs": parts,
        "others": labs[IN_FULL:],
        "worse": worse,
        "runs": sum(one.runs for one in labs),
        "missing": None,
    }
    return Page("front", "Labs", fields)


def _part(reading: Reading, lab: LabSummary) -> LabPart:
    problem = None
    found: Sequence[History] = ()
    try:
        found = histories.histories(reading, lab.name)
    except UNREADABLE as error:
        problem = str(error) or type(error).__name__
    newest = histories.latest(found)
    what = tables.main_figure(newest)
    cases = histories.measured(reading, newest)
    return LabPart(
        summary=lab,
        title=title(lab.document),
        tables=list(tables.tables(newest, what, cases)),
        figures=len(newest),
        judged=histories.judged(found),
        worse=[_worse(lab.name, one) for one in found if one.series.regressed],
        better=sum(one.series.improved for one in found),
        problem=problem,
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
