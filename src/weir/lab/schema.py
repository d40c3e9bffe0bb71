# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the lab file, for editors and the reference; committed as schema/lab.schema.json."""

from __future__ import annotations

import copy
from typing import Any

from weir.base.document_schema import SCHEMA_ID
from weir.lab.lab import Lab
from weir.lab.overlay import NOT_IN_OVERLAY, OVERLAY_KEY


def lab_schema() -> dict[str, Any]:
    """The schema of what a user may write: `Lab`, and `quick` with any part of it."""
    schema: dict[str, Any] = {"$schema": SCHEMA_ID, **Lab.model_json_schema()}
    schema["title"] = "Weir lab file"
    parts = {
        key: copy.deepcopy(part) for key, part in schema["properties"].items() if key not in NOT_IN_OVERLAY
    }
    parts["functions"] = {"type": "object", "description": "options of functions, merged into the lab's"}
    schema["properties"][OVERLAY_KEY] = {
        "type": "object",
        "description": "any part of a lab, laid over it with --quick: mappings merge, anything else replaces",
        "properties": parts,
        "additionalProperties": False,
    }
    return schema
