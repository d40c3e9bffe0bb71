# SPDX-License-Identifier: Apache-2.0
"""Times of a soak in words."""

from __future__ import annotations


def since(seconds: float) -> str:
    """ "+61.2 s", "+1 h 05 min": since the soak began."""
    return f"+{seconds:.1f} s" if seconds < 600 else f"+{span(seconds)}"


def span(seconds: float) -> str:
    """ "61.2 s", "10 min 05 s", "1 h 05 min"."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds_left = divmod(rest, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds_left:02} s"
