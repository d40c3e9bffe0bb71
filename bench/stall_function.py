# SPDX-License-Identifier: Apache-2.0
"""stall-function: of a function's pauses, those that are attributed to it, and none to the host."""

from __future__ import annotations

from bench.pairs import Line, one_figure
from bench.stalls import by_function


def run() -> Line:
    """Long polls of the function, of these and what was taken for the host's."""
    long_polls, stall = by_function()
    stalls = long_polls + stall.host_count
    detail = {"ours_stalls": long_polls, "peer_stalls": stalls, **stall.model_dump()}
    return one_figure("stall-function", long_polls / stalls, n=stalls, target=1.0, detail=detail)
