# SPDX-License-Identifier: Apache-2.0
"""Reductions of the delay in the terminal, in 80 columns; the page has the values too."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.report.reduction_rows import HEAD, reduction_rows
from weir.results.result import Result

WAY_COLUMNS, CHANGE_COLUMNS = 14, 10  # 80 in all, with a space between two


def tables(result: Result) -> Iterator[RenderableType]:
    """One table a frame size and load, of each chain; nothing where nothing can be compared."""
    rows = list(reduction_rows(result))
    for chain, of_chain in itertools.groupby(rows, key=lambda row: row.chain):
        yield Text(f"\n{chain}: change of the delay to {result.baseline}", style="bold", overflow="fold")
        for (frame, load), some in itertools.groupby(of_chain, key=lambda row: (row.frame, row.load)):
            out = _table(f"\nframe {frame}, {load}")
            for row in some:
                way = "\n".join(part for part in (row.way, row.remark()) if part)
                spreads = map(_short, row.spreads())
                cells = ["\n".join(both) for both in zip(row.changes(), spreads, strict=True)]
                out.add_row(Text(way, overflow="fold"), *cells)
            yield out


def _short(spread: str) -> str:
    """ "-70 to -55": the sign of percent is said above it."""
    return spread.replace("%", "").replace(" to ", "…")


def _table(title: str) -> Table:
    out = Table(
        title=Text(title, overflow="fold"), title_justify="left", title_style="none", box=box.SIMPLE_HEAD
    )
    out.show_edge, out.padding = False, (0, 0, 0, 0)
    out.add_column("Variant", width=WAY_COLUMNS)
    for name in HEAD.values():
        out.add_column(name.replace(" ", "\n"), justify="right", overflow="fold", width=CHANGE_COLUMNS)
    return out
