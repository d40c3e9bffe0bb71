# SPDX-License-Identifier: Apache-2.0
"""What an address asks for. Whatever does not make sense is answered with what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

BAD_REQUEST, NOT_FOUND = 400, 404


def name(path: Mapping[str, str], query: QueryParams) -> str:
    """Of a lab or run: at the end of the path, or where it cannot stand there in the query."""
    found = path.get("name") or query.get("name", "")
    if not found or "\0" in found:  # PostgreSQL takes none in a text
        raise HTTPException(NOT_FOUND, "There is no such page: its address has no name that can be one.")
    return found


def number(query: QueryParams, key: str, default: int, most: int) -> int:
    """From 1 to `most`."""
    text = query.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise HTTPException(BAD_REQUEST, f"{key}: expected a number from 1 to {most}.")
    return int(text)


def share(query: QueryParams, key: str, default: float) -> float:
    """Of a per cent below 100."""
    text = query.get(key)
    if not text:
        return default
    try:
        found = float(text.removesuffix("%")) / 100
    except ValueError:
        found = math.nan
    if not 0 <= found < 1:
        raise HTTPException(BAD_REQUEST, f"{key}: expected per cent below 100, such as 3.")
    return found
