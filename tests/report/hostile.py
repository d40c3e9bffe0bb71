# SPDX-License-Identifier: Apache-2.0
"""A result whose every free text tries to become markup."""

from __future__ import annotations

import json
from typing import Any

from weir.results.result import Result

ATTACK = (
    """"'><img src=x onerror=alert(1)></script></style><script>alert(2)</script><!-- [bold]x[/bold] ${1}"""
)
# Values of a fixed set: no lab and no machine can put a text there.
FIXED = {"status", "purpose", "kind", "side", "role", "wire", "version", "architecture"}


def hostile(result: Result, attack: str = ATTACK) -> Result:
    """The same result with the attack appended to each string; names that were equal stay equal."""
    return Result.model_validate(_walk(json.loads(result.model_dump_json()), attack))


def _walk(value: Any, attack: str) -> Any:
    if isinstance(value, str):
        return value + attack
    if isinstance(value, list):
        return [_walk(item, attack) for item in value]
    if isinstance(value, dict):
        return {key: item if key in FIXED else _walk(item, attack) for key, item in value.items()}
    return value
