# SPDX-License-Identifier: Apache-2.0
"""prefix-table: l3fwd's table of 1,000,000 IPv4 routes against rte_fib with the same.

build/native/prefix-table-bench measures both in turn; the detail has the time to add a route, and memory.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

from bench.hugepages import hugepages
from bench.pairs import PAIRS, Line, SkipError, line
from weir.fabric.data_plane import binary

CORE = 1
MEMORY_MB = 1536
TIMEOUT_S = 120
ROUTES = 1_000_000


def run() -> Line:
    """Ratio of rte_fib's cycles a look-up to the table's."""
    program = binary().with_name("prefix-table-bench")
    if not program.exists():
        raise SkipError(f"{program} is missing: run 'make native'")
    argv = [str(program), "-l", str(CORE), "-m", str(MEMORY_MB), "--in-memory", "--no-pci", "--no-telemetry"]
    argv += ["--log-level=error", "--", str(ROUTES), str(PAIRS)]
    with hugepages(MEMORY_MB):
        done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SkipError(f"prefix-table-bench ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    built, *rounds = (json.loads(text) for text in done.stdout.splitlines())
    taken = [(float(cycles["prefix_table"]), float(cycles["rte_fib"])) for cycles in rounds]
    found = line("prefix-table", taken, target=1.0, unit="cycles_a_lookup", less_is_better=True)
    return replace(found, detail=found.detail | built)
