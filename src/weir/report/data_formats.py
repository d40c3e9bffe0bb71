# SPDX-License-Identifier: Apache-2.0
"""Reports for programs. CSV: one table for spreadsheets and scripts (RFC 4180), that of the procedure that
the run was about, units in the column names. JSON: the whole result, every field written out, as
schema/result.schema.json describes it.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from weir.base.document_schema import document_schema
from weir.report import Format
from weir.report.sections import Cell, leading
from weir.results.result import RESULT_VERSION, Result


def as_csv(result: Result) -> str:
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


CSV = Format("csv", ".csv", as_csv)


def as_json(result: Result) -> str:
    """The result as indented JSON with a final newline."""
    return result.model_dump_json(indent=2) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `as_json` writes."""
    return document_schema(Result, f"Weir result, version {RESULT_VERSION}")


JSON = Format("json", ".json", as_json)
