# SPDX-License-Identifier: Apache-2.0
"""lb-64k: the balancer at 65,536 connections, against l3fwd."""

from __future__ import annotations

from bench.lb import at
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet."""
    return at("lb-64k", 1 << 16, target=0.5)
