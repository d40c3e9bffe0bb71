# SPDX-License-Identifier: Apache-2.0
"""prefix-table: l3fwd's table of 1,000,000 IPv4 routes against rte_fib with the same.

build/native/prefix-table-bench measures both in turn; the detail has the time to add a route, and memory.
"""

from __future__ import annotations

from dataclasses import replace

from bench.native_program import answers
from bench.pairs import PAIRS, Line, line

MEMORY_MB = 1536
ROUTES = 1_000_000


def run() -> Line:
    """Ratio of rte_fib's cycles a look-up to the table's."""
    built, *rounds = answers("prefix-table-bench", ROUTES, PAIRS, memory_mb=MEMORY_MB)
    taken = [(float(cycles["prefix_table"]), float(cycles["rte_fib"])) for cycles in rounds]
    found = line("prefix-table", taken, target=1.0, unit="cycles_a_lookup", less_is_better=True)
    return replace(found, detail=found.detail | built)
