# SPDX-License-Identifier: Apache-2.0
"""`quick`: a partial lab laid over the lab. Mappings merge, anything else replaces; places follow values. And
the schema of a lab with such a part."""

from __future__ import annotations

import copy
from typing import Any

from weir.base.record import SCHEMA_ID
from weir.lab.lab import Lab
from weir.lab.source import KeyPath, Place, Source

OVERLAY_KEY = "quick"
NOT_IN_OVERLAY = ("weir", "name", OVERLAY_KEY)


def split_overlay(source: Source) -> tuple[Source, Source | None]:
    """The lab without its overlay, and the lab with it merged in (None if there is no usable overlay)."""
    values: dict[str, Any] = dict(source.values)
    overlay = values.pop(OVERLAY_KEY, None)
    base = Source(source.file, values, _without(source.places, (OVERLAY_KEY,)))
    if overlay is None:
        return base, None
    if not isinstance(overlay, dict):
        source.complain((OVERLAY_KEY,), "is not a mapping", "keys of a lab that differ with --quick")
        return base, None
    for key in NOT_IN_OVERLAY:
        if key in overlay:
            source.complain((OVERLAY_KEY, key), "cannot differ with --quick", "another key of a lab")
    overlay = {key: value for key, value in overlay.items() if key not in NOT_IN_OVERLAY}
    merged = Source(source.file, values, dict(base.places))
    merged.values = _merge(merged, values, overlay, source, ())
    return base, merged


def _merge(
    merged: Source, below: dict[str, Any], above: dict[str, Any], source: Source, path: KeyPath
) -> Any:
    values = dict(below)
    for key, value in above.items():
        here = (*path, key)
        if isinstance(value, dict) and isinstance(values.get(key), dict):
            values[key] = _merge(merged, values[key], value, source, here)
            continue
        values[key] = value
        merged.places = _without(merged.places, here)
        for inner, place in source.under((OVERLAY_KEY, *here)):
            merged.places[(*here, *inner)] = place
    return values


def _without(places: dict[KeyPath, Place], path: KeyPath) -> dict[KeyPath, Place]:
    return {key: place for key, place in places.items() if key[: len(path)] != path}


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
