# SPDX-License-Identifier: Apache-2.0
"""Shapes that labs, technologies, plans and the fabric share: topology, cores, steps. Knows no other part."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[1]
_ABOVE = _PACKAGE.parents[1]

SOURCE_TREE: Path | None = _ABOVE if (_ABOVE / "meson.build").is_file() else None
"""The source that Weir runs from, with its history, native build and tools; None where it was installed."""


def shipped(what: Literal["labs", "schema"]) -> Path:
    """The folder of what comes with Weir: in the source, or as the package's data."""
    return SOURCE_TREE / what if SOURCE_TREE is not None else _PACKAGE / "share" / what
