# SPDX-License-Identifier: Apache-2.0
"""flow-index: looking flows up 32 at a time, in this project's index and in rte_hash, at 1 M flows.

build/native/flow-table-bench measures both in turn; the detail has 64 k flows, and look-ups that then read
the flow's entry.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

from bench.native_program import answers
from bench.pairs import PAIRS, Line, line

MEMORY_MB = 512
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
    return answers("flow-table-bench", flows, PAIRS, memory_mb=MEMORY_MB)


def _ratio(rounds: list[Round], how: str) -> float:
    return round(statistics.median(one[f"rte_hash{how}"] / one[f"flow_table{how}"] for one in rounds), 3)
