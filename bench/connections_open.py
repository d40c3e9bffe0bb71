# SPDX-License-Identifier: Apache-2.0
"""connections-open: memory of 10,000,000 connections that are open at the same time.

build/native/connections-open-bench has clients and servers in one process; what is compared is all that it
has resident at most, with DPDK's own. A connection that is not open at both ends fails the bench.
"""

from __future__ import annotations

from bench.native_program import printed
from bench.pairs import Line, line

MILLIONS = 10
LIMIT_BYTES = 4.0 * 2**30
ROUNDS = 5


def run() -> Line:
    """Ratio of 4 GiB to the bytes that are resident."""
    taken = []
    for _ in range(ROUNDS):
        (answer,) = printed("connections-open-bench", [str(MILLIONS)])
        if {answer["open_clients"], answer["open_servers"]} != {MILLIONS * 1_000_000}:
            raise RuntimeError(f"of {MILLIONS} million connections not all are open: {answer}")
        taken.append((float(answer["resident_bytes"]), LIMIT_BYTES))
    return line("connections-open", taken, target=1.0, unit="bytes", less_is_better=True)
