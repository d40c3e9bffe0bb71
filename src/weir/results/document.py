# SPDX-License-Identifier: Apache-2.0
"""What Weir writes as a whole has a version, and is read in that and in older ones.

Older results become present ones when they are read: a change that an older result does not fit needs a new
version here and a step in UPGRADES. Other documents of an older version must fit as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from weir.base.error import USAGE, WeirError
from weir.base.record import Record

RESULT_VERSION = 2
LEAN_VERSION = 2
MACHINE_VERSION = 1
EXPLANATION_VERSION = 1

Piece = Literal["result", "setup", "case", "trial", "interval"]
"""Of a result: the store keeps each in a document of its own."""


@dataclass(frozen=True)
class Upgrade:
    """From the version before. Each change is of one part as JSON, in place."""

    to: int
    changes: Mapping[Piece, Callable[[dict[str, Any]], None]] = field(default_factory=dict)


def _records(case: dict[str, Any]) -> None:
    case.setdefault("records", {})


UPGRADES: list[Upgrade] = [
    Upgrade(2, {"case": _records}),  # what procedures keep without a field of their own
]
"""Of results, in order."""


class NewerDocumentError(WeirError):
    """A newer Weir wrote it."""

    exit_code = USAGE


class Document(Record):
    """The base of what is written as a whole."""

    VERSION: ClassVar[int]

    version: int
    """Version of this format."""

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """Of this version or an older one. NewerDocumentError, pydantic's ValidationError."""
        document = _parsed(text)
        version = document.get("version")
        if not isinstance(version, int) or version == cls.VERSION:
            return cls.model_validate_json(text)
        if version > cls.VERSION:
            known = f"version {version}; this one reads up to {cls.VERSION}"
            raise NewerDocumentError(f"a newer Weir wrote it: {cls.__name__} of {known}")
        cls.upgrade(document, version)
        document["version"] = cls.VERSION
        return cls.model_validate_json(json.dumps(document))

    @classmethod
    def upgrade(cls, document: dict[str, Any], version: int) -> None:
        """From that version to the present one, in place. Nothing to do but for results."""


def upgraded(text: str, piece: Piece, version: int) -> str:
    """A part of a result of that version as the present one has it."""
    if version >= RESULT_VERSION:
        return text
    document = _parsed(text)
    upgrade_part(document, piece, version)
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
        points = [trial for point in document.get("delays", []) for trial in point.get("trials", [])]
        for trial in [*document.get("curve", []), *document.get("trials", []), *points]:
            yield "trial", trial
        for interval in (document.get("soak") or {}).get("intervals", []):
            yield "interval", interval


def _parsed(text: str | bytes) -> dict[str, Any]:
    """An object; empty of what is none, about which validation has the words."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
