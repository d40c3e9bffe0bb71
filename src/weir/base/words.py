# SPDX-License-Identifier: Apache-2.0
"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, one: str, more: str | None = None) -> str:
    """ "1 run", "1,188 trials", "2 queries" where `more` is not only an s longer."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
