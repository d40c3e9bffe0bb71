# SPDX-License-Identifier: Apache-2.0
"""The standard report of an RFC 2544 run as text: a table a test, then everything that does not conform."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from weir.procedures.rfc2544 import section_page
from weir.procedures.rfc2544.section_rows import Table, deviations, remarks, tables
from weir.report import Format, summary
from weir.report.sections import Section
from weir.results.result import Result

COLUMNS = 100
NOTHING = "This run has no RFC 2544 procedures; `weir rfc2544 LAB` runs them."


def render(result: Result) -> str:
    """The report; for another run a sentence that says so."""
    parts = ["\n".join(_table(table)) for table in tables(result)]
    if not parts:
        return NOTHING + "\n"
    head = f"{summary.title(result)}: RFC 2544, RFC 6201 and RFC 9004\n{result.fingerprint.cpu} · {result.id}"
    return "\n\n".join([head, *parts, *_endings(result)]) + "\n"


def _endings(result: Result) -> Iterator[str]:
    said = remarks(result)
    if said:
        yield "\n".join(["Read with care", *(_item(sentence) for sentence in said)])
    found = deviations(result)
    lines = [f"Not as the RFCs ask ({len(found)})" if found else "As the RFCs ask."]
    for one, where in found:
        only = f" ({', '.join(where)})" if where else ""
        lines.append(_item(f"{one.clause}: {one.asked}. Here: {one.ran}{only}."))
    yield "\n".join(lines)


def _item(text: str) -> str:
    return textwrap.fill(text, COLUMNS, initial_indent="  - ", subsequent_indent="    ")


def _table(table: Table) -> Iterator[str]:
    rows = [list(table.head), *table.lines]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head))]
    yield table.title
    yield textwrap.fill(table.note, COLUMNS)
    yield ""
    last = ""
    for number, row in enumerate(rows):
        key = row[0] + row[1]
        shown = row if key != last else ["", "", *row[2:]]
        cells = [
            cell.ljust(width) if column < table.words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(shown, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
        if number == 0:
            yield "-" * (sum(widths) + 2 * len(widths) - 2)
        last = key


FORMAT = Format(
    "rfc2544", ".rfc2544", "the tables of RFC 2544 and RFC 9004, and what does not conform", render
)
SECTION = Section(page=section_page.parts, leads=True)
