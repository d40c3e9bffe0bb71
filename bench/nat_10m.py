# SPDX-License-Identifier: Apache-2.0
"""nat-10m: the NAT at 10,000,000 mappings, against l3fwd, both without ports."""

from __future__ import annotations

from bench.nat import alone_at
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet."""
    return alone_at("nat-10m", 10_000_000, target=0.3)
