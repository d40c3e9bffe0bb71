# SPDX-License-Identifier: Apache-2.0
"""placement-2000: 2,000 chains on 200 hosts, in 30 classes, and each unlike all others: gap and time."""

from __future__ import annotations

from bench import placement
from bench.pairs import Line


def run() -> Line:
    """5 % proved within 60 s is asked for."""
    return placement.line("placement-2000", 2000, 200, (30, 2000), limit_s=60, gap=0.05)
