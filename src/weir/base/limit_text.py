# SPDX-License-Identifier: Apache-2.0
"""A limit and what was found, in words that show on which side of it that is."""

from __future__ import annotations

import math

_LEAST, _MOST = 3, 17
"""Significant digits; all of a float's, and one more."""


def limit_text(limit: float) -> str:
    """ "150.5", "10,000": as it was given."""
    return f"{limit:,.12g}"


def found_text(value: float, limit: float) -> str:
    """ "3.2", "19,449", "30.04" beside a limit of 30: three significant digits, or all before the point, or
    as many as it takes to differ from the limit as it does."""
    said = ""
    for digits in range(_LEAST, _MOST + 1):
        places = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
        said = f"{value:,.{places}f}"
        shown = float(said.replace(",", ""))
        if (shown > limit, shown < limit) == (value > limit, value < limit):
            break
    return said.rstrip("0").rstrip(".") if "." in said else said
