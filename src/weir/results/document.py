# SPDX-License-Identifier: Apache-2.0
"""What Weir writes as a whole has a version, and is read in that and in older ones.

A change that an older document does not fit needs a new version here, and a step: of results in UPGRADES, of
others in their `upgrade`.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Self

from weir.base.error import USAGE, WeirError
from weir.base.record import Record
from weir.results.upgrades import MISSHAPEN, parsed

LEAN_VERSION = 3
MACHINE_VERSION = 1
OUTSIDE_LEAN_VERSION = 1
COMPARISON_VERSION = 1
EXPLANATION_VERSION = 1
HOST_GRAPH_VERSION = 1
TREND_VERSION = 1
VERIFICATION_VERSION = 1


class NewerDocumentError(WeirError):
    """A newer Weir wrote it."""

    exit_code = USAGE


class Document(Record):
    """The base of what is written as a whole."""

    VERSION: ClassVar[int]

    version: int
    """Version of this format."""

    @classmethod
    def read(cls, text: str | bytes, *, strict: bool = False) -> Self:
        """Of this version or an older one. NewerDocumentError, pydantic's ValidationError.

        `strict`: each value is of its own kind, as Weir wrote it: no text that only reads as a number.
        """
        document = parsed(text)
        version = document.get("version")
        if not isinstance(version, int) or version == cls.VERSION:
            return cls.model_validate_json(text, strict=strict)
        if version > cls.VERSION:
            known = f"version {version}; this one reads up to {cls.VERSION}"
            raise NewerDocumentError(f"a newer Weir wrote it: {cls.__name__} of {known}")
        try:
            cls.upgrade(document, version)
        except MISSHAPEN:
            return cls.model_validate_json(text, strict=strict)
        document["version"] = cls.VERSION
        return cls.model_validate_json(json.dumps(document), strict=strict)

    @classmethod
    def upgrade(cls, document: dict[str, Any], version: int) -> None:
        """From that version to the present one, in place. Most have nothing to do. MISSHAPEN: it is not as
        that version has it."""
