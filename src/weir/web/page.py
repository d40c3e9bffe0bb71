# SPDX-License-Identifier: Apache-2.0
"""A page: which template, and what is put into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OK = 200


@dataclass(frozen=True)
class Page:
    """Before it is written."""

    template: str
    """Its name without suffix: "front"."""
    title: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    status: int = OK
