# SPDX-License-Identifier: Apache-2.0
"""stall-host: of a hundred stops of weir-dp, those that it tells to be the host's."""

from __future__ import annotations

from bench.pairs import Line, line
from bench.stalls import STALLS, by_host


def run() -> Line:
    """Share that is told so."""
    stall = by_host()
    found = line("stall-host", [(min(stall.host_count, STALLS), STALLS)], target=0.95, unit="stalls")
    found.detail.update(stall.model_dump())
    return found
