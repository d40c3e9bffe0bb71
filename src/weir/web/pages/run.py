# SPDX-License-Identifier: Apache-2.0
"""A run's page: the sections of the HTML report, from the same code. The charts' data come after it."""

from __future__ import annotations

import gzip
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from markupsafe import Markup
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from weir.report import page as report_page
from weir.report import summary
from weir.report.page import document
from weir.report.page.markup import join, tag
from weir.report.sections import PagePart, kind
from weir.results.result import Result
from weir.store import listing
from weir.store.connection import StoreError
from weir.store.database import UnknownRunError
from weir.store.listing import RunSummary
from weir.store.selection import Selection
from weir.web import campaigns, links, query
from weir.web.page import Page
from weir.web.reading import Reading

LATEST = "latest"
Part = TypeVar("Part")


@dataclass(frozen=True)
class Written:
    """A run as its page has it."""

    id: str
    lab: str
    title: str
    kind: str
    bar: Markup
    main: Markup
    foot: Markup
    drawn: bytes
    """The JSON of what the charts are drawn of, compressed by gzip."""


def page(reading: Reading, path: Mapping[str, str], asked: QueryParams) -> Page:
    """A run that cannot be read has a page that says why. HTTPException for one that is not there."""
    run = found(reading, query.name(path, asked))
    try:
        written = _written(reading, run)
    except StoreError as error:
        return Page("unreadable", run.id, {"run": run, "why": str(error)})
    being_measured = run.unfinished in ("measured", "unknown")
    fields = {"run": run, "written": written, "data": links.drawn(run.id), "live": being_measured}
    fields |= _campaign(reading, run)
    return Page("run", f"{written.title}: {written.kind}", fields)


def _campaign(reading: Reading, run: RunSummary) -> dict[str, object]:
    """Over several hosts, that it is of."""
    try:
        return {"campaign": campaigns.found(reading, run.campaign) if run.campaign else None, "why": None}
    except StoreError as error:
        return {"campaign": None, "why": str(error)}


def data(reading: Reading, name: str) -> bytes:
    """The JSON of a run's result, compressed by gzip. HTTPException, StoreError."""
    run = found(reading, name)
    with reading.store() as store:
        return gzip.compress(store.load(run.id).model_dump_json().encode(), 6, mtime=0)


def drawn(reading: Reading, name: str) -> bytes:
    """The JSON of what its charts are drawn of, compressed by gzip. HTTPException, StoreError."""
    return _written(reading, found(reading, name)).drawn


def found(reading: Reading, name: str) -> RunSummary:
    """The run of that id, or the only one whose id begins so, or the latest."""
    with reading.store() as store:
        if name == LATEST:
            runs = listing.runs(store, limit=1)
        else:
            try:
                with store.session() as session:
                    number = store.run_of(session, name).number
            except UnknownRunError as error:
                raise HTTPException(query.NOT_FOUND, f"{error}.") from error
            runs = listing.runs(store, Selection(runs=[number]))
    if not runs:
        raise HTTPException(query.NOT_FOUND, "There is no run yet; `weir run LAB` makes one.")
    return runs[0]


def _written(reading: Reading, run: RunSummary) -> Written:
    def write() -> Written:
        with reading.store() as store:
            result = store.load(run.id)
        return written(result)

    if run.finished_at is None:  # it is still measured, or was killed
        return write()
    return reading.remembered(("run", run), write)  # one that went on and ended again is another one


def written(result: Result) -> Written:
    """What can be made of it; of what cannot it says so."""
    above = [part for make in document.ABOVE for part in _made(partial(_one, make, result))]
    parts = [part for make in document.parts_of(result) for part in _made(make)]
    shown = [document.section(part) if isinstance(part, PagePart) else part for part in parts]
    return Written(
        id=result.id,
        lab=result.lab,
        title=summary.title(result),
        kind=kind(result),
        bar=document.bar([part for part in parts if isinstance(part, PagePart)], links.data(result.id)),
        main=join([*above, *shown]),
        foot=document.foot(result),
        drawn=gzip.compress(report_page.drawn(result).encode(), 6, mtime=0),
    )


def _one(make: Callable[[Result], Markup | None], result: Result) -> list[Markup | None]:
    return [make(result)]


def _made(make: Callable[[], Iterable[Part]]) -> list[Part | Markup]:
    """What it makes; where it fails, which is a defect of Weir or of what was stored, a note in its place."""
    try:
        return [*make()]
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        said = f"A section of this run cannot be shown: {type(error).__name__}: {error}"
        return [tag("p", said, class_="headline", role="note")]
