# SPDX-License-Identifier: Apache-2.0
"""What the benches nat-* measure: the NAT on outbound packets of mappings that it has."""

from __future__ import annotations

from bench.beside_l3fwd import against_l3fwd, alone_against_l3fwd, begun_a_second
from bench.pairs import Line

REMOTE = ("198.51.100.1", 80)
EXTERNAL, WIDE = "203.0.113.0/27", "203.0.113.0/24"
MOST_OF_EXTERNAL = 1 << 20


def at(name: str, mappings: int, target: float) -> Line:
    """Ratio of the NAT's packets a second to l3fwd's."""
    return against_l3fwd(name, "nat", _options(mappings), flows=mappings, to=REMOTE, target=target)


def alone_at(name: str, mappings: int, target: float) -> Line:
    """Ratio of l3fwd's cycles a packet to the NAT's, without ports."""
    return alone_against_l3fwd(name, "nat", _options(mappings), flows=mappings, to=REMOTE, target=target)


def begun(name: str, mappings: int, target_per_s: float) -> Line:
    """Ratio of new mappings a second to that many."""
    return begun_a_second(
        name, "nat", _options(mappings), flows=mappings, to=REMOTE, target_per_s=target_per_s
    )


def _options(mappings: int) -> dict[str, str]:
    return {"external": EXTERNAL if mappings <= MOST_OF_EXTERNAL else WIDE, "sessions": str(mappings)}
