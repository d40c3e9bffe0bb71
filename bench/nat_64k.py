# SPDX-License-Identifier: Apache-2.0
"""nat-64k: the NAT at 65,536 mappings, against l3fwd."""

from __future__ import annotations

from bench.nat import at
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet."""
    return at("nat-64k", 1 << 16, target=0.5)
