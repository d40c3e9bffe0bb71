# SPDX-License-Identifier: Apache-2.0
"""nat-1m: the NAT at 1,048,576 mappings, against l3fwd."""

from __future__ import annotations

from bench.nat import at
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet."""
    return at("nat-1m", 1 << 20, target=0.4)
