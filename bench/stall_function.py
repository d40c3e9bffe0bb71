# SPDX-License-Identifier: Apache-2.0
"""stall-function: of a function's pauses, those that are attributed to it, and none to the host."""

from __future__ import annotations

from bench.pairs import Line, line
from bench.stalls import by_function


def run() -> Line:
    """Long polls of the function, of these and what was taken for the host's."""
    long_polls, stall = by_function()
    found = line("stall-function", [(long_polls, long_polls + stall.host_count)], target=1.0, unit="stalls")
    found.detail.update(stall.model_dump())
    return found
