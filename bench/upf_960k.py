# SPDX-License-Identifier: Apache-2.0
"""upf-960k: the user plane function at 960,000 sessions, against l3fwd."""

from __future__ import annotations

from bench.pairs import Line
from bench.upf import both_ways


def run() -> list[Line]:
    """Ratios of packets a second, up and down."""
    return both_ways("upf-960k", 960_000, target=0.333)
