# SPDX-License-Identifier: Apache-2.0
"""What a procedure adds to reports: formats loop over these sections and know no procedure.

Each procedure ends its `section.py` with `SECTION = Section(...)`, and is named in `weir.procedures`. A part
that a result has nothing for is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from rich.console import RenderableType

from weir.procedures import PROCEDURES
from weir.report import chain_faults, doubts, noise, summary
from weir.report.page.markup import Child
from weir.results.result import Result

Cell = str | int | float | bool | None
HOW_TO_READ = "How to read it"
"""Title of the notes that say what columns mean."""
LETTERS = "Flags"
"""Of those that say what letters beside rates mean."""
TESTER_ALONE = "The tester alone"
"""Of those that say what it can do without a system under test."""

EXPLAIN = "`weir explain RUN` names what limits each case, with its evidence"
FINDINGS_MOST = 2
"""Sentences on what was found, in the executive summary."""


@dataclass(frozen=True)
class Note:
    """A list below the terminal's tables. Those of the same title become one."""

    title: str
    sentences: Sequence[str]
    style: str = "bold"
    marks: Sequence[str] = ()
    """In place of dashes, one for each sentence."""


@dataclass(frozen=True)
class PagePart:
    """A section of the HTML page."""

    name: str
    """In the page's bar; in small letters its anchor."""
    title: str
    words: str
    """Beside the title: what is to be seen."""
    content: tuple[Child, ...]


@dataclass(frozen=True)
class CsvTable:
    """Rows by column; a column that a row lacks, or None, is an empty cell."""

    columns: Sequence[str]
    rows: Iterable[Mapping[str, Cell]]


@dataclass(frozen=True)
class PlainTable:
    """A table whose cells are text, for formats that have no other way to show one."""

    title: str
    head: tuple[str, ...]
    lines: list[list[str]]
    words: int
    """So many of the first columns are words, the others numbers."""
    note: str = ""


def no_kind(_: Result) -> str | None:
    """Of a section that says nothing of it."""
    return None


@dataclass(frozen=True)
class Section:
    """A procedure's part of each format."""

    kind: Callable[[Result], str | None] = no_kind
    """What the run was, in a word or two: "soak". None: another section says it."""
    findings: Callable[[Result], Iterable[str]] = lambda _: ()
    """What was found, in sentences that say no more than the numbers do; the most important one first."""
    judged: Callable[[Result], str | None] = lambda _: None
    """How a service level was kept, which the run's exit code says; among the findings it comes first."""
    tables: Callable[[Result], Iterable[PlainTable]] = lambda _: ()

    terminal: Callable[[Result], Iterable[RenderableType]] = lambda _: ()
    notes: Callable[[Result], Iterable[Note]] = lambda _: ()
    page: Callable[[Result], Iterable[PagePart]] = lambda _: ()
    csv: Callable[[Result], CsvTable | None] = lambda _: None
    leads: bool = False
    """Before the throughput where one is first: on the page, and as the table of the CSV."""


def sections(result: Result) -> list[Section]:
    """Of all procedures that the result has something of, in their order. Others are not loaded."""
    return [
        _section(one.name) for one in PROCEDURES if one.every_run or _has(result, one.name, one.of_labs_with)
    ]


def leading(result: Result) -> list[Section]:
    """The same, those first that lead."""
    return sorted(sections(result), key=lambda one: not one.leads)


def kind(result: Result) -> str:
    """What the run was, in a word or two: "throughput", "soak"."""
    said = (section.kind(result) for section in leading(result))
    return next((one for one in said if one is not None), "measurement")


def executive_summary(result: Result) -> list[str]:
    """The run in two to four sentences: what was found, how far the machine disturbed it, what to do next.

    `noise.headline`, where there is one, is above it and not in it; where it says that the numbers say
    little, none is told here but how a service level was kept.
    """
    if noise.mostly_disturbed(result):
        judged = [section.judged(result) for section in leading(result)]
        found = [[one] for one in judged if one is not None]
    else:
        found = [[*section.findings(result)] for section in leading(result)]
    said = [some[0] for some in found if some] + [one for some in found for one in some[1:]]
    machine = noise.in_short(result) if noise.headline(result) is None else None
    ends = [one for one in (machine, next_step(result)) if one is not None]
    return [*said[:FINDINGS_MOST], *ends]


def _has(result: Result, name: str, of_labs_with: str) -> bool:
    if of_labs_with:
        return bool(result.spec.get(of_labs_with))
    cases = (case for _, case in result.cases())
    return any(name in case.records or getattr(case, name, None) is not None for case in cases)


@cache
def _section(name: str) -> Section:
    found = import_module(f"weir.procedures.{name}.section").SECTION
    assert isinstance(found, Section)
    return found


def next_step(result: Result) -> str | None:
    """What to do now: first what keeps the numbers from being used, then what explains them. None: nothing
    that the result tells."""
    kinds = {doubt.kind for doubt in doubts.doubts(result)}
    every = [case for _, case in result.cases()]
    if not every:
        if any(setup.failed for setup in result.setups):
            return "Next: mend what the reason names, in the lab or in what it uses."
        return "Next: `weir doctor` says what this machine lacks." if summary.refusals(result) else None
    missed = any(verdict.outcome == "missed" for case in every for verdict in case.verdicts)
    bound = any(row.throughput.tester_bound for row in summary.rows(result))
    on_hosts = result.campaign is not None and result.campaign.shared is not None
    on = " --on …" if on_hosts else ""
    busy = "`weir doctor` names what disturbs cores here; run it again when they are free"
    if noise.overloaded(result):
        busy = f"`weir explain` says why even the lowest load was too much; {busy}"
    steps = (
        (
            chain_faults.fault(result) is not None,
            "look in the chain for it, or in what it uses",
        ),
        (noise.mostly_disturbed(result), busy),
        (
            summary.left_out(result) is not None,
            f"`weir run --resume {result.id}{on}` measures what was left out",
        ),
        (
            result.finished_at is None or result.interrupted,
            f"`weir soak --resume {result.id}` goes on with it"
            if result.interrupted and any(case.soak is not None for case in every)
            else "run it again to its end; what had not finished is missing, or was not measured again",
        ),
        ("D" in kinds, busy),
        (bool(kinds & {"X", "I"}), "the reasons under Read with care say why some cases have no rate"),
        (missed and bool(summary.goals(result)), EXPLAIN),
        ("L" in kinds, "raise `time_limit_s` where the search ran out of time (L)"),
        (
            bool(kinds & {"U", "contradicted"}),
            "repeat before you quote rates that are unsteady (U) or that a trial contradicts",
        ),
        (bound, "give the tester more cores where it was the limit (T); the system may carry more"),
        (
            any(row.throughput.lab_bound for row in summary.rows(result)),
            "raise `measure.max_load_pps` where all of it was carried (M); the system may carry more",
        ),
        (bool(summary.goals(result)), EXPLAIN),
    )
    return next((f"Next: {what}." for applies, what in steps if applies), None)
