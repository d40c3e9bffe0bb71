# SPDX-License-Identifier: Apache-2.0
"""dpi: the whole function without applications against Hyperscan alone, payload bytes a second, same rules.

Hyperscan scans one stream a flow, as dpi does. build/native/dpi-bench measures all in turn; the detail has
dpi with applications.
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
TIMEOUT_S = 300  # compiling the expressions is most of it
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
    program = binary().with_name("dpi-bench")
    if not program.exists():
        raise SkipError(f"{program} is missing: run 'make native' with libhyperscan-dev and libndpi-dev")
    argv = [str(program), "-l", str(CORE), "-m", str(MEMORY_MB), "--in-memory", "--no-pci", "--no-telemetry"]
    argv += ["--log-level=error", "--", str(EXPRESSIONS), str(FLOW_RULES), str(PAIRS)]
    with hugepages(MEMORY_MB):
        done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SkipError(f"dpi-bench ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    compiled, *rounds = (json.loads(text) for text in done.stdout.splitlines())
    return compiled, rounds


def _ratio(rounds: list[Round], ours: str, peer: str) -> float:
    return round(statistics.median(one[ours] / one[peer] for one in rounds), 3)
