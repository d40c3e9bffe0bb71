# SPDX-License-Identifier: Apache-2.0
"""What changed from some runs to others, or to several others: `weir compare --json`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from weir.base.record import Record, document_schema
from weir.results.document import COMPARISON_VERSION, Document
from weir.results.figures import Unit

Outcome = Literal["worse", "better", "same", "not shown", "not compared"]
"""Of one change. *same*: beyond chance, it is less than `smallest`. *not shown*: chance can explain it, and
it may be more than that, too."""
Bound = Literal["=", ">=", "<="]


class ComparedRun(Record):
    """One of the runs."""

    id: str
    lab: str
    started_at: str
    """Time in RFC 3339, UTC."""
    weir: str
    """Version of Weir that made it."""
    quick: bool


class Change(Record):
    """One rate or delay, before and after."""

    chain: str
    way: str
    """The technology or variant."""
    frame: str
    what: str
    """A goal, "NDR"; a delay with its load, "latency P99 at 50% PDR"; of a given load "carried at 1Mpps"."""
    unit: Unit
    """Of "us" less is better, of all others more."""
    before: float | None
    """Median of its samples; None: there is none."""
    after: float | None
    change: float | None = None
    """Always after / before - 1."""
    low: float | None = None
    """95 % interval of the change by what the samples of each side vary; None: nobody knows how much."""
    high: float | None = None
    bound: Bound = "="
    """The change is at least, or at most, that: the tester was the limit of one side."""
    at_least_before: bool = False
    """The tester was the limit: the system under test may do more."""
    at_least_after: bool = False
    samples_before: int = 0
    """Rounds of a run, or runs."""
    samples_after: int = 0
    p_value: float | None = None
    """That chance alone makes such a change; below 0.01 it is one. Corrected for the number of changes
    that are judged (Holm), of all sides where there are several."""
    outcome: Outcome
    why: str | None = None
    """Why it is not compared, or what to bear in mind."""


class Comparison(Document):
    """Some runs, and what is different in others."""

    VERSION: ClassVar[int] = COMPARISON_VERSION

    version: int = COMPARISON_VERSION
    """Version of this format."""
    before: list[ComparedRun]
    after: list[ComparedRun]
    smallest: float
    """Changes below that share do not matter to whoever asked."""
    warnings: list[str] = []
    """What else is different: the labs, before all else; machine, software, state of the cores."""
    changes: list[Change]
    """In the order of the first run."""


class SeveralComparisons(Document):
    """Some runs, and what is different in each of several others. All of them together say how much samples
    vary, so an interval may differ from that of two sides alone."""

    VERSION: ClassVar[int] = COMPARISON_VERSION

    version: int = COMPARISON_VERSION
    """Version of this format."""
    comparisons: list[Comparison]
    """One for each of the others, in the order in which they were named; `before` is the same in all."""


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12)."""
    return document_schema(Comparison, f"Weir comparison, version {COMPARISON_VERSION}")


def several_schema() -> dict[str, Any]:
    """JSON Schema (2020-12)."""
    return document_schema(SeveralComparisons, f"Weir comparisons, version {COMPARISON_VERSION}")
