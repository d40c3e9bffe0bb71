# SPDX-License-Identifier: Apache-2.0
"""handover: cycles to hand a packet from one core to another in bursts of 32, against 30 cycles."""

from __future__ import annotations

import json
import os
import statistics
import subprocess

from bench.pairs import Line, SkipError
from weir.fabric.data_plane import binary

LIMIT_CYCLES = 30.0
ROUNDS = 21
ROUNDS_MIN = 5  # of which both cores were there all the time
TIMEOUT_S = 120


def run() -> Line:
    """Ratio of the limit to the cycles of both cores together."""
    program = binary().with_name("handover-bench")
    if not program.exists():
        raise SkipError(f"{program} is missing: run 'make native'")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    argv = [str(program), f"--lcores=0@{cpus[0]},1@{cpus[1]}", "--no-huge", "--no-shconf", "-m", "64"]
    argv += ["--no-pci", "--no-telemetry", "--log-level=error", "--", str(ROUNDS)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SkipError(f"handover-bench ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    rounds = [json.loads(text) for text in done.stdout.splitlines()]
    if len(rounds) < ROUNDS_MIN:
        raise SkipError(f"the cores were away in {ROUNDS - len(rounds)} of {ROUNDS} rounds")
    ratios = [LIMIT_CYCLES / float(cycles["pointers"]) for cycles in rounds]
    return Line(
        name="handover",
        ratio=statistics.median(ratios),
        min=min(ratios),
        max=max(ratios),
        n=len(ratios),
        target=1.0,
        detail={
            "cycles_a_packet": statistics.median(float(cycles["pointers"]) for cycles in rounds),
            "cycles_a_packet_with_frame": statistics.median(float(cycles["frames"]) for cycles in rounds),
        },
    )
