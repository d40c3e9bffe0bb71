# SPDX-License-Identifier: Apache-2.0
"""The whole result as JSON, every field written out. Schema: schema/result.schema.json."""

from __future__ import annotations

import json
from typing import Any

from weir.report.format import Format
from weir.store.result import RESULT_VERSION, Result


def render(result: Result) -> str:
    """The result as indented JSON with a final newline."""
    return result.model_dump_json(indent=2) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `render` writes."""
    body = Result.model_json_schema(mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Weir result, version {RESULT_VERSION}",
    }
    return head | {key: value for key, value in body.items() if key != "title"}


def schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


FORMAT = Format("json", ".json", "everything that was measured; schema/result.schema.json", render)
