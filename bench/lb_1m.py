# SPDX-License-Identifier: Apache-2.0
"""lb-1m: the balancer at 1,048,576 connections, against l3fwd."""

from __future__ import annotations

from bench.lb import at
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet."""
    return at("lb-1m", 1 << 20, target=0.4)
