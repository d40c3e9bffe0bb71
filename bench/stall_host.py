# SPDX-License-Identifier: Apache-2.0
"""stall-host: of a hundred stops of weir-dp, those that it tells to be the host's."""

from __future__ import annotations

from bench.pairs import Line, one_figure
from bench.stalls import STALLS, by_host


def run() -> Line:
    """Share that is told so."""
    stall = by_host()
    share = min(stall.host_count, STALLS) / STALLS
    return one_figure("stall-host", share, n=STALLS, target=0.95, detail=stall.model_dump())
