# SPDX-License-Identifier: Apache-2.0
"""Turn-around times of a suite's scenarios, as rows and sentences."""

from __future__ import annotations

from collections.abc import Iterator

from weir.results.scenario import EarlierTimes, OperationTimes, ScenarioLoad
from weir.results.verification import SuiteResult

HEAD = (
    "scenario",
    "operation",
    "times",
    "P50, s",
    "P90, s",
    "P95, s",
    "P99, s",
    "longest, s",
    "since last run",
)
TITLE = "Turn-around times of scenarios and their operations"
_TEXTS = (0, 1, 8)
"""Columns that are no numbers."""


def numeric(column: int) -> bool:
    """Whether it is a column of numbers."""
    return column not in _TEXTS


def rows(suite: SuiteResult, *, operations: bool = True) -> list[list[str]]:
    """In the order of HEAD; none of a suite without scenarios. `operations`: with those of an iteration;
    otherwise iterations alone."""
    return [
        _row(case.name, one)
        for case in suite.cases
        if case.scenario is not None
        for one in (case.scenario.operations if operations else case.scenario.operations[:1])
    ]


def _row(case: str, one: OperationTimes) -> list[str]:
    done = f"{len(one.seconds)}" + (f", {one.failed} failed" if one.failed else "")
    percentiles = (one.p50_s, one.p90_s, one.p95_s, one.p99_s, one.max_s)
    return [case, one.name, done, *(_seconds(each) for each in percentiles), since(one.earlier)]


def _seconds(value: float | None) -> str:
    return f"{value:.3g}" if value is not None else "–"


def since(earlier: EarlierTimes | None) -> str:
    """ "1.31 ×, slower": the ratio of the medians, and whether chance explains it."""
    if earlier is None:
        return "–"
    ratio = f"{earlier.ratio:.2f} ×" if earlier.ratio is not None else "before: 0"
    words = {"not compared": "too few to tell", "not shown": "chance explains it"}
    return f"{ratio}, {words.get(earlier.change, earlier.change)}"


def summary(load: ScenarioLoad) -> str:
    """Of one scenario, in a line."""
    limit = f", at most {load.time_limit_s:g} s each" if load.time_limit_s is not None else ""
    whole = load.operations[0]
    took = f", median {_seconds(whole.p50_s)} s, longest {_seconds(whole.max_s)} s" if whole.seconds else ""
    return f"{load.succeeded} of {load.planned} iterations succeeded{took}{limit}"


def sentences(suite: SuiteResult) -> Iterator[str]:
    """What there is to say of all of them: what they were compared with, and what changed."""
    compared = [
        (case.name, one)
        for case in suite.cases
        if case.scenario is not None
        for one in case.scenario.operations
        if one.earlier is not None
    ]
    runs = {one.earlier.run for _, one in compared if one.earlier is not None}
    if not runs:
        return
    changed = [
        (name, one) for name, one in compared if one.earlier and one.earlier.change in ("slower", "faster")
    ]
    few = sum(one.earlier is not None and one.earlier.change == "not compared" for _, one in compared)
    yield (
        f"Compared with {', '.join(sorted(runs))}: of {len(compared)} operations {len(changed)} changed"
        f"{f'; of {few} there are too few times to tell' if few else ''} "
        "(two-sided Mann-Whitney test, 1 % for all of them together)."
    )
    for name, one in changed:
        yield f"{name}, {one.name}: {since(one.earlier)}."
