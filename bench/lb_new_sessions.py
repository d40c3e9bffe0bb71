# SPDX-License-Identifier: Apache-2.0
"""lb-new-sessions: connections that the balancer begins a second on one core, 1,048,576 in all, no ports."""

from __future__ import annotations

from bench.lb import begun
from bench.pairs import Line


def run() -> Line:
    """Ratio to one million a second."""
    return begun("lb-new-sessions", 1 << 20, target_per_s=1e6)
