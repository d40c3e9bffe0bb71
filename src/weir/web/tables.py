# SPDX-License-Identifier: Apache-2.0
"""Newest results of a lab as tables: chains and technologies down, frames across, each with its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weir.report import rates
from weir.report.summary import sizes
from weir.report.units import Written, written
from weir.results.figures import LESS_IS_BETTER
from weir.results.trend import Series
from weir.web.histories import History
from weir.web.sparkline import sparkline


@dataclass(frozen=True)
class Cell:
    """One figure."""

    value: str
    flags: str
    """Of the report's letters those that make it no more than a bound (T), or say that others had cores for
    much of its time (D), or that the machine was in a worse state (S)."""
    spark: Markup | None
    change: str
    """ "▼ -3.1%", of its newest level against the one before; empty: there is none."""
    outcome: str
    since: str
    """The run where that level began; empty: there is none."""


Row = tuple[str, list[Cell | None]]
"""A technology or variant, and its cells."""


@dataclass(frozen=True)
class Table:
    """Of one goal or delay."""

    what: str
    unit: str
    head: list[str]
    chains: list[tuple[str, list[Row]]]


def steps(series: Series) -> Written:
    """How the levels before and after its newest change are written."""
    newest = series.changes[-1:]
    return written(series.unit, (level for one in newest for level in (one.before, one.after)))


def cell(of: History, by: Written) -> Cell:
    """What a history says in a table whose values are so written."""
    series = of.series
    last = series.changes[-1] if series.changes else None
    arrow = "" if last is None else "▲" if last.change > 0 else "▼"
    newest = of.points[-1]
    return Cell(
        value=(rates.SIGNS[">="] if newest.at_least else "") + by.write(series.latest),
        flags="T" * newest.tester_bound
        + "M" * newest.lab_bound
        + "D" * newest.disturbed
        + "S" * newest.worse_state,
        spark=sparkline([point.value for point in of.points if point.comparable]),
        change="" if last is None else f"{arrow} {last.change:+.1%}",
        outcome="" if last is None else last.outcome,
        since="" if last is None else last.run,
    )


def tables(
    found: Sequence[History], what: str | None = None, cases: Sequence[tuple[str, str, str]] = ()
) -> Iterator[Table]:
    """Of the figures of one run, or of one a host, in their order; `what`: of that goal or delay alone.
    `cases`: chain, technology or variant, and frame of all that were measured, also of those without it."""
    chosen = [one for one in found if what in (None, one.series.what)]
    for goal in dict.fromkeys(one.series.what for one in chosen):
        some = [one for one in chosen if one.series.what == goal]
        frames = sorted({one.series.frame for one in some} | {case[2] for case in cases}, key=_by_size)
        hosts = {one.series.host for one in chosen}
        by = written(some[0].series.unit, (one.series.latest for one in some))
        chains: dict[str, list[History]] = {case[0]: [] for case in cases}
        for one in some:
            host = f" on {one.series.host}" if len(hosts) > 1 else ""
            chains.setdefault(one.series.chain + host, []).append(one)
        yield Table(
            what=goal,
            unit=by.label,
            head=[sizes(frame) for frame in frames],
            chains=[
                (chain, _rows(those, frames, by, [case[1] for case in cases if case[0] == chain]))
                for chain, those in chains.items()
            ],
        )


def _by_size(frame: str) -> tuple[int, str]:
    """Mixes come last."""
    return (int(frame), "") if frame.isdecimal() else (1 << 16, frame)


def _rows(of: Sequence[History], frames: Sequence[str], by: Written, measured: Sequence[str]) -> list[Row]:
    ways = dict.fromkeys([*measured, *(one.series.way for one in of)])
    at = {(one.series.way, one.series.frame): cell(one, by) for one in of}
    return [(way, [at.get((way, frame)) for frame in frames]) for way in ways]


def main_figure(found: Sequence[History]) -> str | None:
    """What a lab is mostly about: its first rate, or else its first delay."""
    rates = [one for one in found if one.series.unit not in LESS_IS_BETTER]
    return next((one.series.what for one in (*rates, *found)), None)
