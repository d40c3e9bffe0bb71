# SPDX-License-Identifier: Apache-2.0
"""A live migration in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from weir.report import migration_rows
from weir.results.result import Result


def tables(result: Result) -> Iterator[RenderableType]:
    """Nothing for a run without a migration."""
    for row in migration_rows.migrations(result):
        yield Text(f"\n{row.title}", style="bold")
        facts = Table.grid(padding=(0, 2, 0, 0))
        for name, value in migration_rows.facts(row):
            facts.add_row(Text(name, style="dim"), Text(value, overflow="fold"))
        yield Padding(facts, (0, 0, 0, 2))
        if row.migration.phases:
            yield _phases(migration_rows.lines(row.migration))
            yield Text(migration_rows.MEANING, style="dim")
        for fault in row.migration.faults:
            yield Text(fault, style="bold red")


def _phases(lines: list[list[str]]) -> Table:
    out = Table(box=box.SIMPLE_HEAD)
    out.show_edge, out.padding = False, (0, 1, 0, 0)
    for index, name in enumerate(migration_rows.HEAD):
        out.add_column(name.replace(", ", ",\n"), justify="left" if index < migration_rows.WORDS else "right")
    for line in lines:
        out.add_row(*line)
    return out
