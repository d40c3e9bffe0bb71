# SPDX-License-Identifier: Apache-2.0
"""A lab's page: what changed, the newest results, every history, the runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from weir.comparison.lab_keys import named
from weir.comparison.trend_text import name as figure_name
from weir.report.page.markup import raw
from weir.report.summary import sizes
from weir.report.units import written
from weir.store import listing
from weir.store.listing import LabSummary
from weir.store.selection import Selection
from weir.web import histories, links, query, tables
from weir.web.histories import History
from weir.web.page import Page
from weir.web.pages.front import UNREADABLE, title
from weir.web.reading import Reading

RUNS_SHOWN = 25
PAGES_MOST = 100_000
DRAWN = 12
"""Histories at first; the others when they are asked for."""
FACTORS = ("chain", "way", "frame", "what")


def page(reading: Reading, path: Mapping[str, str], asked: QueryParams) -> Page:
    """HTTPException for a lab of which there is no run."""
    name = query.name(path, asked)
    at = query.number(asked, "page", 1, PAGES_MOST)
    chosen = Selection(labs=[name])
    with reading.store() as store:
        lab = next((one for one in listing.labs(store) if one.name == name), None)
        if lab is None:
            raise HTTPException(query.NOT_FOUND, f"{store.name} has no run of a lab {name}.")
        runs = listing.runs(store, chosen, RUNS_SHOWN + 1, (at - 1) * RUNS_SHOWN)
    problem, found = None, []
    try:
        found = histories.histories(reading, name)
    except UNREADABLE as error:
        problem = str(error) or type(error).__name__
    shown = runs[:RUNS_SHOWN]
    of_runs = {"runs": shown, "at": at, "more": len(runs) > RUNS_SHOWN, "problem": problem}
    of_runs["campaigns"] = any(run.campaign for run in shown)
    return Page("lab", name, _fields(reading, lab, found, asked) | of_runs)


def _fields(
    reading: Reading, lab: LabSummary, found: Sequence[History], asked: QueryParams
) -> dict[str, Any]:
    wanted = {factor: asked.get(factor, "") for factor in FACTORS}
    fitting = [one for one in found if _fits(one, wanted)]
    everything = asked.get("all") == "1"
    drawn = fitting if everything else fitting[:DRAWN]
    newest = histories.latest(found)
    return {
        "lab": lab,
        "title_line": title(lab.document),
        "hosts": sorted({one.series.host for one in found if one.series.host}),
        "tables": list(tables.tables(newest, cases=histories.measured(reading, newest))),
        "newest": newest[0].points[-1] if newest else None,
        "worse": [one for one in found if one.series.regressed],
        "judged": histories.judged(found),
        "changed": [one for one in found if one.series.changes and not one.series.regressed],
        "figures": len(found),
        "choices": [(factor, _values(found, factor)) for factor in FACTORS],
        "wanted": wanted,
        "fitting": len(fitting),
        "drawn": len(drawn),
        "charts": _data([chart(one) for one in drawn]),
        "name_of": figure_name,
        "keys_of": named,
        "steps_of": tables.steps,
        "everything": links.lab(lab.name, **{k: v for k, v in wanted.items() if v}, all="1"),
    }


def _data(charts: list[dict[str, Any]]) -> Markup:
    """In the page, where a text must not end the element."""
    text = json.dumps(charts, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return raw("script", text, type="application/json", id="charts")


def _fits(one: History, wanted: Mapping[str, str]) -> bool:
    return all(not value or getattr(one.series, factor) == value for factor, value in wanted.items())


def _values(found: Sequence[History], factor: str) -> list[tuple[str, str]]:
    """Those that there are, and how they are written."""
    ordered = sorted(found, key=lambda one: one.place)
    values = dict.fromkeys(getattr(one.series, factor) for one in ordered)
    return [(value, sizes(value) if factor == "frame" else value) for value in values]


def chart(of: History) -> dict[str, Any]:
    """What the page's script draws of."""
    series = of.series
    by = written(series.unit, (point.value for point in of.points))
    bands = None
    if series.band_low is not None and series.band_high is not None:
        bands = [series.band_low / series.level, series.band_high / series.level]
    worse = {change.run: change.outcome for change in series.changes}
    return {
        "title": figure_name(series),
        "unit": by.label,
        "band": bands,
        "points": list(_points(of, by.scale, worse)),
    }


def _points(of: History, scale: float, outcomes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for point, level in zip(of.points, of.levels(), strict=True):
        yield {
            "run": point.run,
            "href": links.run(point.run),
            "at_s": datetime.fromisoformat(point.started_at).timestamp(),
            "weir": point.weir,
            "value": point.value * scale,
            "level": None if level is None else level * scale,
            "counts": point.comparable,
            "outcome": outcomes.get(point.run),
        }
