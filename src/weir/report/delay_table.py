# SPDX-License-Identifier: Apache-2.0
"""Delays and the service level in the terminal, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.report import summary
from weir.report.delay_rows import HEAD, DelayRow, delay_rows, verdict_cells, verdicts
from weir.results.result import Result

# What fits; the report has the rest.
SHOWN = ("mean", "P50", "P99", "P99.9", "max", "IPDV P99", "jitter")


def tables(result: Result) -> Iterator[RenderableType]:
    """One table a chain and frame with delays, and one of all verdicts; nothing where there are none."""
    groups: dict[tuple[str, str], list[DelayRow]] = {}
    for row in delay_rows(result):
        groups.setdefault((row.setup.chain, row.case.frame), []).append(row)
    for (chain, frame), rows in groups.items():
        out = _table(f"\n{chain}, frame {summary.frame_label(frame)}: delay in µs")
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
    out = _table(title)
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


def _table(title: str) -> Table:
    out = Table(
        title=Text(title, overflow="fold"), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    out.show_edge, out.padding = False, (0, 1, 0, 0)
    return out
