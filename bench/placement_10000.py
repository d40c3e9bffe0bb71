# SPDX-License-Identifier: Apache-2.0
"""placement-10000: 10,000 chains on 1,000 hosts, in 100 classes, and each unlike all others: gap and time."""

from __future__ import annotations

from bench import placement
from bench.pairs import Line


def run() -> Line:
    """That it ends, and says its gap, is asked for; 5 % within 300 s is the measure here."""
    return placement.line("placement-10000", 10_000, 1000, (100, 10_000), limit_s=300, gap=0.05)
