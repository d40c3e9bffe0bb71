# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas (2020-12) of documents that Weir reads or writes, as they are committed in schema/."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def document_schema(shape: type[Any], title: str) -> dict[str, Any]:
    """The schema of a document that Weir writes: of a record, or of a list of them."""
    body = TypeAdapter(shape).json_schema(mode="serialization")
    return {"$schema": SCHEMA_ID, "title": title} | {
        key: value for key, value in body.items() if key != "title"
    }


def as_text(schema: Mapping[str, Any]) -> str:
    """Indented, with a final newline."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
