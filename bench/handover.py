# SPDX-License-Identifier: Apache-2.0
"""handover: cycles to hand a packet from one core to another in bursts of 32, against 30 cycles."""

from __future__ import annotations

import os
import statistics

from bench.native_program import QUIET, printed
from bench.pairs import Line, SkipError, of_ratios

LIMIT_CYCLES = 30.0
ROUNDS = 21
ROUNDS_MIN = 5  # of which both cores were there all the time


def run() -> Line:
    """Ratio of the limit to the cycles of both cores together."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    both = [f"--lcores=0@{cpus[0]},1@{cpus[1]}", "--no-huge", "--no-shconf", "-m", "64", *QUIET]
    rounds = printed("handover-bench", [*both, "--", str(ROUNDS)])
    if len(rounds) < ROUNDS_MIN:
        raise SkipError(f"the cores were away in {ROUNDS - len(rounds)} of {ROUNDS} rounds")
    ratios = [LIMIT_CYCLES / float(cycles["pointers"]) for cycles in rounds]
    detail: dict[str, object] = {
        "cycles_a_packet": statistics.median(float(cycles["pointers"]) for cycles in rounds),
        "cycles_a_packet_with_frame": statistics.median(float(cycles["frames"]) for cycles in rounds),
    }
    return of_ratios("handover", ratios, target=1.0, detail=detail)
