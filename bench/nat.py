# SPDX-License-Identifier: Apache-2.0
"""What nat-64k and nat-1m measure: the NAT on outbound packets of mappings that it has."""

from __future__ import annotations

from bench.beside_l3fwd import against_l3fwd
from bench.pairs import Line

REMOTE = ("198.51.100.1", 80)


def at(name: str, mappings: int, target: float) -> Line:
    """Ratio of the NAT's packets a second to l3fwd's."""
    options = {"external": "203.0.113.0/27", "sessions": str(mappings)}
    return against_l3fwd(name, "nat", options, flows=mappings, to=REMOTE, target=target)
