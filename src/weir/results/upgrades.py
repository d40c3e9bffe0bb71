# SPDX-License-Identifier: Apache-2.0
"""Results of older versions become present ones when they are read: a change that an older result does not
fit needs a new version and a step in UPGRADES."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RESULT_VERSION = 3
MISSHAPEN = (KeyError, TypeError, AttributeError)
"""What a step raises of a part that is not as its version has it. Steps touch only what documents cannot be
without: the part stays as it is, and validation has the words."""

Piece = Literal["result", "setup", "case", "trial", "interval"]
"""Of a result: the store keeps each in a document of its own."""


@dataclass(frozen=True)
class Upgrade:
    """From the version before. Each change is of one part as JSON, in place."""

    to: int
    changes: Mapping[Piece, Callable[[dict[str, Any]], None]] = field(default_factory=dict)


def _records(case: dict[str, Any]) -> None:
    case.setdefault("records", {})


_OLD_KINDS = {"owner": "state_core", "applier": "rewrite_worker"}
_OLD_AREA = re.compile(r"(?<=\.)(owner|applier)(?=\d)")


def renamed(part: dict[str, Any], old: str, new: str) -> None:
    """A key of another name, in place; nothing where it is not there."""
    if old in part:
        part[new] = part.pop(old)


def present_area(text: str) -> str:
    """A name of an area, or a text with such names, as version 3 has them."""
    return _OLD_AREA.sub(lambda found: _OLD_KINDS[found[1]], text)


def present_kind(kind: str) -> str:
    """The same of a kind of area."""
    return _OLD_KINDS.get(kind, kind)


def _core_speeds(trial: dict[str, Any]) -> None:
    renamed(trial, "paces", "core_speeds")
    for area in trial.get("areas", []):
        area |= {"name": present_area(area["name"]), "kind": present_kind(area["kind"])}
    _places(trial)


def _places(counted: dict[str, Any]) -> None:
    for drop in counted.get("drops", []):
        drop["place"] = present_area(drop["place"])


def _machine(result: dict[str, Any]) -> None:
    renamed(result.get("machine") or {}, "paces_cycles", "piece_cycles")


def _state_cores(setup: dict[str, Any]) -> None:
    for node in (setup.get("topology") or {}).get("nodes", []):
        renamed(node, "owners", "state_cores")


UPGRADES: list[Upgrade] = [
    Upgrade(2, {"case": _records}),  # what procedures keep without a field of their own
    # The field's words for what `separated` is made of, and for the speed of cores.
    Upgrade(3, {"result": _machine, "setup": _state_cores, "trial": _core_speeds, "interval": _places}),
]
"""Of results, in order."""


def upgraded(text: str, piece: Piece, version: int) -> str:
    """A part of a result of that version as the present one has it."""
    if version >= RESULT_VERSION:
        return text
    document = parsed(text)
    try:
        upgrade_part(document, piece, version)
    except MISSHAPEN:
        return text
    if piece == "result":
        document["version"] = RESULT_VERSION
    return json.dumps(document)


def upgrade_part(document: dict[str, Any], piece: Piece, version: int) -> None:
    """The same of a parsed one, in place; of the parts in it too."""
    for step in UPGRADES:
        if step.to > version:
            for name, one in _parts(document, piece):
                if name in step.changes:
                    step.changes[name](one)


def _parts(document: dict[str, Any], piece: Piece) -> Iterator[tuple[Piece, dict[str, Any]]]:
    yield piece, document
    if piece == "result":
        for setup in document.get("setups", []):
            yield from _parts(setup, "setup")
    elif piece == "setup":
        for case in document.get("cases", []):
            yield from _parts(case, "case")
    elif piece == "case":
        soak = document.get("soak") or {}
        points = [trial for point in document.get("delays", []) for trial in point.get("trials", [])]
        segments = [segment["trial"] for segment in soak.get("segments", []) if segment.get("trial")]
        for trial in [*document.get("curve", []), *document.get("trials", []), *points, *segments]:
            yield "trial", trial
        for interval in soak.get("intervals", []):
            yield "interval", interval


def parsed(text: str | bytes) -> dict[str, Any]:
    """An object; empty of what is none, or too deep for one: about that validation has the words."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
