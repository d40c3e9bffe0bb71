# SPDX-License-Identifier: Apache-2.0
"""Reports for programs. CSV: one table for spreadsheets and scripts (RFC 4180), that of the procedure that
the run was about, units in the column names. JSON: the whole result, every field written out, as
schema/result.schema.json describes it.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from weir.base.record import document_schema
from weir.report import Format
from weir.report.sections import Cell, CsvTable, leading
from weir.results.result import RESULT_VERSION, Result


def as_csv(result: Result) -> str:
    """The table with a header row; empty cell: not known."""
    tables = (section.csv(result) for section in leading(result))
    return written(next(one for one in tables if one is not None))


def written(table: CsvTable) -> str:
    """A table as RFC 4180 has it."""
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


TRIAL_DEPTH = 6
"""setups, one of them, cases, one of them, trials, one of them. Intervals of a soak lie one deeper."""


def as_json(result: Result) -> str:
    """The result as indented JSON, a trial a line, with a final newline: indented to the last number it
    would be mostly blanks."""
    return _laid_out(json.loads(result.model_dump_json()), 0) + "\n"


def _laid_out(value: Any, depth: int) -> str:
    deep = depth > TRIAL_DEPTH or (depth == TRIAL_DEPTH and isinstance(value, dict))
    if deep or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    end = "\n" + "  " * depth
    if isinstance(value, list):
        items = [_laid_out(one, depth + 1) for one in value]
        return f"[{end}  " + f",{end}  ".join(items) + f"{end}]"
    items = [f"{json.dumps(key)}: {_laid_out(one, depth + 1)}" for key, one in value.items()]
    return f"{{{end}  " + f",{end}  ".join(items) + f"{end}}}"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `as_json` writes."""
    return document_schema(Result, f"Weir result, version {RESULT_VERSION}")


JSON = Format("json", ".json", as_json)
