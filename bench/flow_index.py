# SPDX-License-Identifier: Apache-2.0
"""flow-index: looking flows up 32 at a time, in this project's index and in rte_hash, at 1 M flows.

build/native/flow-table-bench measures both in turn; the detail has 64 k flows, and look-ups that then read
the flow's entry.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import replace

from bench.hugepages import hugepages
from bench.pairs import PAIRS, Line, SkipError, line
from weir.fabric.data_plane import binary

CORE = 1
MEMORY_MB = 512
TIMEOUT_S = 120
FEW, MANY = 1 << 16, 1 << 20
Round = dict[str, float]  # contender → cycles a flow


def run() -> Line:
    """Ratio of rte_hash's cycles to the index's."""
    many, few = _measured(MANY), _measured(FEW)
    taken = [(one["flow_table"], one["rte_hash"]) for one in many]
    found = line("flow-index", taken, target=1.0, unit="cycles_a_flow", less_is_better=True)
    detail: dict[str, object] = {
        "ratio_with_entry_read": _ratio(many, "_read"),
        "ratio_64k": _ratio(few, ""),
        "ratio_64k_with_entry_read": _ratio(few, "_read"),
    }
    return replace(found, detail=found.detail | detail)


def _measured(flows: int) -> list[Round]:
    program = binary().with_name("flow-table-bench")
    if not program.exists():
        raise SkipError(f"{program} is missing: run 'make native'")
    argv = [str(program), "-l", str(CORE), "-m", str(MEMORY_MB), "--in-memory", "--no-pci", "--no-telemetry"]
    argv += ["--log-level=error", "--", str(flows), str(PAIRS)]
    with hugepages(MEMORY_MB):
        done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SkipError(f"flow-table-bench ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    return [json.loads(text) for text in done.stdout.splitlines()]


def _ratio(rounds: list[Round], how: str) -> float:
    return round(statistics.median(one[f"rte_hash{how}"] / one[f"flow_table{how}"] for one in rounds), 3)
