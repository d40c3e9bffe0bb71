# SPDX-License-Identifier: Apache-2.0
"""upf-64k: the user plane function at 65,536 sessions, against l3fwd."""

from __future__ import annotations

from bench.pairs import Line
from bench.upf import both_ways


def run() -> list[Line]:
    """Ratios of packets a second, up and down."""
    return both_ways("upf-64k", 1 << 16, target=0.5)
