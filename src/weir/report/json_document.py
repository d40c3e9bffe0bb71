# SPDX-License-Identifier: Apache-2.0
"""The whole result as JSON, every field written out. Schema: schema/result.schema.json."""

from __future__ import annotations

from typing import Any

from weir.lab.document_schema import as_text, document_schema
from weir.report import Format
from weir.results.result import RESULT_VERSION, Result


def render(result: Result) -> str:
    """The result as indented JSON with a final newline."""
    return result.model_dump_json(indent=2) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `render` writes."""
    return document_schema(Result, f"Weir result, version {RESULT_VERSION}")


def schema_text() -> str:
    """The schema as it is committed."""
    return as_text(schema())


FORMAT = Format("json", ".json", "everything that was measured; schema/result.schema.json", render)
