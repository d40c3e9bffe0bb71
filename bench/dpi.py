# SPDX-License-Identifier: Apache-2.0
"""dpi: the whole function without applications against Hyperscan alone, payload bytes a second, same rules.

Hyperscan scans one stream a flow, as dpi does. build/native/dpi-bench measures all in turn; the detail has
dpi with applications.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

from bench.native_program import answers
from bench.pairs import PAIRS, Line, line

MEMORY_MB = 512
EXPRESSIONS, FLOW_RULES = 40_000, 10_000
Round = dict[str, float]  # contender → payload bytes a second


def run() -> Line:
    """Ratio of dpi's rate to that of hs_scan_stream()."""
    compiled, rounds = _measured()
    found = line(
        "dpi", [(one["content"], one["hyperscan"]) for one in rounds], target=0.8, unit="bytes_per_s"
    )
    detail: dict[str, object] = {
        "ratio_with_applications": _ratio(rounds, "everything", "hyperscan"),
        "expressions": EXPRESSIONS,
        "l3_l4_rules": FLOW_RULES,
    }
    return replace(found, detail=found.detail | detail | compiled)


def _measured() -> tuple[dict[str, float], list[Round]]:
    compiled, *rounds = answers("dpi-bench", EXPRESSIONS, FLOW_RULES, PAIRS, memory_mb=MEMORY_MB)
    return compiled, rounds


def _ratio(rounds: list[Round], ours: str, peer: str) -> float:
    return round(statistics.median(one[ours] / one[peer] for one in rounds), 3)
