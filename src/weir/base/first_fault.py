# SPDX-License-Identifier: Apache-2.0
"""The first of what a ValidationError found, as a sentence of ours says it."""

from __future__ import annotations

from pydantic import ValidationError


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Where it is, "a.0.b" or nothing for the whole, and what is wrong with it."""
    first = error.errors()[0]
    return ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")


def fault_text(error: ValidationError) -> str:
    """Both: "a.0.b: Field required"."""
    place, what = first_fault(error)
    return f"{place}: {what}" if place else what
