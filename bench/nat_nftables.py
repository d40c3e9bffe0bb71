# SPDX-License-Identifier: Apache-2.0
"""nat-nftables: nat against Linux's nftables, behind the same bridge."""

from __future__ import annotations

from bench.beside_linux import against_linux
from bench.pairs import Line

_OPTIONS = {"external": "203.0.113.0/27"}


def run() -> Line:
    """Ratio of packets a second."""
    return against_linux("nat-nftables", "nat", _OPTIONS, by=None, target=1.0)
