# SPDX-License-Identifier: Apache-2.0
"""soak-30min: memory of weir-dp at the beginning of a soak to that at its end, with ledger and buffers.

Environment: SOAK is the time (30min), SOAK_RATE the load (500kpps). The report is in build/bench/soak-30min/.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.pairs import Line, SkipError
from bench.results import OUTPUT
from weir.procedures.soak.segment import soak_of
from weir.results.result import Result
from weir.results.soak import Soak

LAB = Path(__file__).resolve().parent.parent / "labs" / "switching"
MEMORY_TARGET = 0.99  # drift below 1 %
FAILED = 1  # the soak's own verdict, which is in the detail


def run() -> Line:
    """One soak of the direct chain."""
    folder = OUTPUT / "soak-30min"
    folder.mkdir(parents=True, exist_ok=True)
    words = ["soak", str(LAB), "--technology", "direct", "--duration", os.environ.get("SOAK", "30min")]
    words += ["--rate", os.environ.get("SOAK_RATE", "500kpps"), "--json"]
    words += ["--output", str(folder), "--store", str(folder / "soak.db")]
    program = [sys.executable, "-c", "from weir.cli.main import main; main()", *words]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, FAILED):
        raise SkipError(f"weir soak ended with {done.returncode}")
    case = soak_of(Result.model_validate_json(done.stdout))
    if case is None or case.soak is None:
        raise SkipError("the soak has no result")
    return _line(case.soak)


def _line(soak: Soak) -> Line:
    memory = next(
        (one for one in soak.drifts if (one.subject, one.what) == ("weir-dp", "resident memory")), None
    )
    if memory is None:
        raise SkipError("the soak was too short for a line through its intervals")
    ends = [memory.start + change for change in (memory.change_high, memory.change, memory.change_low)]
    low, ratio, high = (memory.start / end for end in ends)
    detail: dict[str, object] = {
        "load_pps": soak.load_pps,
        "measured_s": soak.measured_s,
        "offered": soak.offered,
        "delivered": soak.delivered,
        "unaccounted": soak.unaccounted,
        "buffers_lost": soak.buffers_lost,
        "buffers_kept_most": max(one.buffers_kept_most for one in soak.segments),
        "faults": soak.faults,
        "look_ms_most": max(one.look_ms for one in soak.intervals),
        "prefixes": [one.model_dump(exclude={"streams"}) for one in soak.prefixes],
        "drifts": [one.model_dump() for one in soak.drifts],
    }
    return Line(
        name="soak-30min",
        ratio=ratio,
        min=low,
        max=high,
        n=memory.points,
        target=MEMORY_TARGET,
        detail=detail,
    )
