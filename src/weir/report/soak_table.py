# SPDX-License-Identifier: Apache-2.0
"""A soak in the terminal, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from weir.report import soak_rows, summary
from weir.report.soak_rows import SoakRow
from weir.results.result import Result

# Of pools and tables there may be many; the page has all.
DRIFTS_SHOWN = 24


def tables(result: Result) -> Iterator[RenderableType]:
    """Nothing for a run without a soak."""
    for row in soak_rows.soaks(result):
        yield from _soak(row)


def _soak(row: SoakRow) -> Iterator[RenderableType]:
    soak = row.soak
    title = f"\n{row.setup.technology} {row.setup.chain}, frame {summary.frame_label(row.case.frame)}: soak"
    yield Text(title, style="bold")
    facts = Table.grid(padding=(0, 2, 0, 0))
    for name, value in soak_rows.facts(soak):
        facts.add_row(Text(name, style="dim"), Text(value, overflow="fold"))
    yield Padding(facts, (0, 0, 0, 2))
    yield from _list("Know first", [*soak_rows.remarks(soak)], "bold yellow")
    yield _prefixes(row)
    yield from _list("Events", [soak_rows.event_text(one) for one in soak_rows.notable(soak)], "bold")
    yield from _list("Limits broken by intervals", [*map(soak_rows.broken_text, soak.broken)], "bold red")
    if soak.drifts:
        yield _drifts(row)


def _prefixes(row: SoakRow) -> Table:
    out = _table("\nShort runs and this one: delay in µs, slower direction")
    out.add_column("First")
    for name in (*soak_rows.PREFIX_HEAD, "windows'\nmax: least", "median", "most"):
        out.add_column(name.replace(" max", "\nmax"), justify="right", no_wrap=True)
    for prefix in row.soak.prefixes:
        out.add_row(prefix.name, *soak_rows.prefix_cells(prefix))
    return out


def _drifts(row: SoakRow) -> Table:
    minutes = max(drift.seconds for drift in row.soak.drifts) / 60
    out = _table(f"\nDrift over {minutes:.1f} min: fitted line, 95 % interval")
    for name in ("Of", "what"):
        out.add_column(name, overflow="fold")
    for name in ("start", "change", ""):
        out.add_column(name, justify="right")
    for drift in row.soak.drifts[:DRIFTS_SHOWN]:
        out.add_row(*soak_rows.drift_cells(drift))
    return out


def _list(title: str, sentences: list[str], style: str) -> Iterator[RenderableType]:
    if sentences:
        rows = Table.grid(padding=(0, 1, 0, 0))
        for sentence in sentences:
            rows.add_row("–", Text(sentence, overflow="fold"))
        yield Text(title, style=style)
        yield Padding(rows, (0, 0, 0, 2))


def _table(title: str) -> Table:
    out = Table(
        title=Text(title, overflow="fold"), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    out.show_edge, out.padding = False, (0, 1, 0, 0)
    return out
