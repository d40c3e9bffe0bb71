# SPDX-License-Identifier: Apache-2.0
"""Delays in reports. In the terminal, in 80 columns: those at given loads, the service level, and how
variants change them; the page has the values too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.procedures.latency import section_page
from weir.procedures.latency.section_rows import (
    HEAD,
    MEANING,
    REDUCED_HEAD,
    REDUCED_MEANING,
    UNSURE,
    DelayRow,
    applied,
    delay_rows,
    host_of,
    out_of_reach,
    reduction_rows,
    verdict_cells,
    verdicts,
)
from weir.report import blocks, summary
from weir.report.sections import HOW_TO_READ, Note, Section
from weir.results.result import Result

# What fits; the report has the rest.
SHOWN = ("mean", "P50", "P99", "P99.9", "max", "IPDV P99", "jitter")


def delay_tables(result: Result) -> Iterator[RenderableType]:
    """One table a chain and frame with delays, and one of all verdicts; nothing where there are none."""
    groups: dict[tuple[str, str], list[DelayRow]] = {}
    for row in delay_rows(result):
        groups.setdefault((row.setup.chain, row.case.frame), []).append(row)
    for (chain, frame), rows in groups.items():
        out = blocks.table(f"\n{chain}, frame {summary.frame_label(frame)}: delay in µs")
        out.add_column("Technology", overflow="fold", max_width=13)
        out.add_column("Load", overflow="fold", max_width=16)
        for name in SHOWN:
            out.add_column(name.replace(" ", "\n"), justify="right", no_wrap=True, min_width=5)
        for row in rows:
            cells = dict(zip(HEAD, row.cells(), strict=True))
            style = None if row.valid else "yellow"
            out.add_row(row.setup.name, row.load, *(cells[name] for name in SHOWN), style=style)
        yield out
    yield from _judgement(result)


def _judgement(result: Result) -> Iterator[RenderableType]:
    every = list(verdicts(result))
    if not every:
        return
    unmet = sum(not verdict.met for *_, verdict in every)
    title = f"\nService level: {'met' if not unmet else f'{unmet} of {len(every)} limits NOT met'}"
    out = blocks.table(title)
    out.add_column("Technology, chain, frame", overflow="fold", max_width=22)
    for name in ("Limit on", "Load"):
        out.add_column(name, overflow="fold", max_width=14)
    for name in ("found", "limit", "used"):
        out.add_column(name, justify="right", no_wrap=True)
    out.add_column("")
    for setup, case, verdict in every:
        what = f"{setup.name} {setup.chain} {summary.frame_label(case.frame)}"
        out.add_row(what, *verdict_cells(verdict), style=None if verdict.met else "bold red")
    yield out


WAY_COLUMNS, CHANGE_COLUMNS = 14, 10  # 80 in all, with a space between two


def reduction_tables(result: Result) -> Iterator[RenderableType]:
    """One table a frame size and load, of each chain; nothing where nothing can be compared."""
    rows = list(reduction_rows(result))
    for chain, of_chain in itertools.groupby(rows, key=lambda row: row.chain):
        yield Text(f"\n{chain}: change of the delay to {result.baseline}", style="bold", overflow="fold")
        for (frame, load), some in itertools.groupby(of_chain, key=lambda row: (row.frame, row.load)):
            out = _changes_table(f"\nframe {frame}, {load}")
            for row in some:
                way = "\n".join(part for part in (row.way, row.remark()) if part)
                spreads = map(_short, row.spreads())
                cells = ["\n".join(both) for both in zip(row.changes(), spreads, strict=True)]
                out.add_row(Text(way, overflow="fold"), *cells)
            yield out


def _short(spread: str) -> str:
    """ "-70 to -55": the sign of percent is said above it."""
    return spread.replace("%", "").replace(" to ", "…")


def _changes_table(title: str) -> Table:
    out = blocks.table(title, between=0, style="none")
    out.add_column("Variant", width=WAY_COLUMNS)
    for name in REDUCED_HEAD.values():
        out.add_column(name.replace(" ", "\n"), justify="right", overflow="fold", width=CHANGE_COLUMNS)
    return out


def tables(result: Result) -> Iterator[RenderableType]:
    """Nothing for a run without delays."""
    yield from delay_tables(result)
    yield from reduction_tables(result)


def notes(result: Result) -> Iterator[Note]:
    """What the columns mean, what was tuned, and the least delay that the tester has."""
    meaning = [MEANING] if any(True for _ in delay_rows(result)) else []
    meaning += [REDUCED_MEANING, UNSURE] if result.reductions else []
    tuned = [f"{name}: {applied(settings)}" for name, settings in host_of(result).items()]
    yield Note("Tuned on this machine", tuned)
    yield Note("What this machine cannot show", out_of_reach(result), "yellow")
    yield Note(HOW_TO_READ, meaning)
    yield Note("The tester alone", [*summary.floors(result)] if meaning else [])


SECTION = Section(terminal=tables, notes=notes, page=section_page.parts)
