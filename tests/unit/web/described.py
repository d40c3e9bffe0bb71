# SPDX-License-Identifier: Apache-2.0
"""What `weir serve` answers, as an OpenAPI description: every address, what each takes, what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weir.web import assets, links
from weir.web.pages.lab import FACTORS, PAGES_MOST

RESULT = Path(__file__).parents[3] / "schema" / "result.schema.json"
NAMES = ["nightly", "nightly-00", "nightly-39", "whole-1", "hosts-alpha", "nightly-on-hosts-1", "latest"]
"""That the store has, so that not everything is not there."""
_NUMBER = {"type": "integer", "minimum": 1, "maximum": PAGES_MOST}
_PER_CENT = {"type": "number", "minimum": 0, "exclusiveMaximum": 100}
_TEXT: dict[str, Any] = {"type": "string"}
_NAME = {"anyOf": [{"enum": NAMES}, {"type": "string", "minLength": 1}]}
_SIDE = {"anyOf": [{"enum": NAMES}, {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"}]}
"""Of one run: between several there would be commas, and blanks do not count."""
_EVENT = {
    "type": "object",
    "properties": {"event": {"enum": ["progress", "finished"]}, "data": _TEXT},
    "required": ["event"],
}


def description() -> dict[str, Any]:
    """Of version 3.1, whose schemas are JSON Schema as it is."""
    by_name = _parameter("name", _NAME, required=True)
    of_lab = [_parameter(one, _TEXT) for one in FACTORS]
    of_lab += [_parameter("page", _NUMBER), _parameter("all", _TEXT)]
    of_sides = [
        _parameter("side", {"type": "array", "items": _SIDE, "maxItems": 4, "uniqueItems": True}),
        _parameter("threshold", {"anyOf": [_PER_CENT, {"enum": [""]}]}),
        _parameter("only", _TEXT),
        _parameter("order", _TEXT),
    ]
    in_path = {**by_name, "in": "path"}
    files = {"anyOf": [{"enum": [*assets.files()]}, {"type": "string", "minLength": 1}]}
    of_asset = {**in_path, "schema": files}
    return {
        "openapi": "3.1.0",
        "info": {"title": "weir serve", "version": "1"},
        "paths": {
            links.FRONT: _get([]),
            links.LABS + "{name}": _get([in_path, *of_lab]),
            links.RUNS + "{name}": _get([in_path]),
            links.CAMPAIGNS + "{name}": _get([in_path]),
            links.COMPARE: _get(of_sides),
            links.MODEL: _get([]),
            links.DATA: _get([by_name], "application/json", json.loads(RESULT.read_text(encoding="utf-8"))),
            links.DRAWN: _get([by_name], "application/json", {"type": "object"}),
            links.EVENTS: _get([by_name], "text/event-stream", _EVENT),
            assets.PLACE + "{name}": _get([of_asset], "*/*", {}),
        },
    }


def _parameter(name: str, schema: dict[str, Any], *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _get(parameters: list[dict[str, Any]], kind: str = "text/html", schema: Any = None) -> dict[str, Any]:
    page = {"content": {"text/html": {"schema": _TEXT}}}
    answers = {
        "200": {"description": "it", "content": {kind: {"schema": _TEXT if schema is None else schema}}},
        "400": {"description": "what was asked makes no sense", **page},
        "404": {"description": "there is no such thing", **page},
    }
    return {"get": {"parameters": parameters, "responses": answers}}
