# SPDX-License-Identifier: Apache-2.0
"""One table for spreadsheets and scripts (RFC 4180): that of the procedure that the run was about. Units are
in the column names."""

from __future__ import annotations

import csv
import io

from weir.report import Format
from weir.report.sections import Cell, leading
from weir.results.result import Result


def render(result: Result) -> str:
    """The table with a header row; empty cell: not known."""
    tables = (section.csv(result) for section in leading(result))
    table = next(one for one in tables if one is not None)
    out = io.StringIO()
    writer = csv.DictWriter(out, table.columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    for row in table.rows:
        writer.writerow({name: _text(value) for name, value in row.items()})
    return out.getvalue()


def _text(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


FORMAT = Format("csv", ".csv", "one row for each throughput, for a spreadsheet", render)
