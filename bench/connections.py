# SPDX-License-Identifier: Apache-2.0
"""connections: new connections a second of one core's clients, against servers that cost nothing.

build/native/connections-bench makes 2,000,000 of them, SYN to FIN, each with a request and an answer. A line
for IPv4, and one for IPv6.
"""

from __future__ import annotations

from bench.native_program import printed
from bench.pairs import PAIRS, Line, line

MILLIONS = 2
TARGET_PER_S = 1_000_000.0


def run() -> list[Line]:
    """Ratios to one million a second."""
    return [_made("connections"), _made("connections-ipv6", "6")]


def _made(name: str, *version: str) -> Line:
    taken = []
    for _ in range(PAIRS):
        (answer,) = printed("connections-bench", [str(MILLIONS), *version])
        taken.append((float(answer["per_s"]), TARGET_PER_S))
    return line(name, taken, target=1.0, unit="connections_a_second")
