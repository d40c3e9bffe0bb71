# SPDX-License-Identifier: Apache-2.0
"""Reductions of the delay in the terminal, in 80 columns; the page has the values too."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.report.reduction_rows import HEAD, reduction_rows
from weir.store.result import Result


def tables(result: Result) -> Iterator[RenderableType]:
    """One table a chain; nothing where nothing can be compared."""
    by_chain: dict[str, Table] = {}
    for row in reduction_rows(result):
        out = by_chain.setdefault(
            row.chain, _table(f"\n{row.chain}: change of the delay to {result.baseline}")
        )
        where = Text("\n".join(part for part in (row.load, row.remark()) if part), overflow="fold")
        cells = ["\n".join(both) for both in zip(row.changes(), map(_short, row.spreads()), strict=True)]
        out.add_row(row.frame, where, row.way, *cells)
    yield from by_chain.values()


def _short(spread: str) -> str:
    """ "-70 to -55": the sign of percent is said above it."""
    return spread.replace("%", "").replace(" to ", "…")


def _table(title: str) -> Table:
    out = Table(
        title=Text(title, overflow="fold"), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    out.show_edge, out.padding = False, (0, 1, 0, 0)
    out.add_column("Frame", overflow="fold", max_width=9)
    out.add_column("Load", overflow="fold", max_width=10)
    out.add_column("Variant", overflow="fold", max_width=10)
    for name in HEAD.values():
        out.add_column(name.replace(" ", "\n"), justify="right", overflow="fold", max_width=9)
    return out
