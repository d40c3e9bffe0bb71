# SPDX-License-Identifier: Apache-2.0
"""lb-10m: the balancer at 10,000,000 connections, against l3fwd, both without ports."""

from __future__ import annotations

from bench.lb import alone_at
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet."""
    return alone_at("lb-10m", 10_000_000, target=0.3)
