# SPDX-License-Identifier: Apache-2.0
"""What users, clouds and imported files wrote, for a terminal: their names must not steer it."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Control characters escaped. Lines stay."""
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    return "".join(
        one.encode("unicode_escape").decode("ascii") if unicodedata.category(one).startswith("C") else one
        for one in line
    )
