# SPDX-License-Identifier: Apache-2.0
"""model-error: rates of set-ups that nobody chose, against what the cost model says of them.

Calibrates with labs/predict, then draws set-ups at random by a seed of the system's entropy, which is
printed, and measures them. The ratio is of errors that are blind: of the calibration alone.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from bench.pairs import Line, SkipError
from weir.base.error import WeirError
from weir.fabric import require_root
from weir.lab import load_lab
from weir.planning.calibration.calibration import SEED_BITS, calibration
from weir.planning.calibration.validation import validate_random

LAB = Path(__file__).resolve().parent.parent / "labs" / "predict"
SET_UPS = 40
WANTED_MEAN, WANTED_P90 = 0.03, 0.06


def run() -> Line:
    """Ratio of the error that is wanted to ours: of the mean or of the 90th percentile, whichever is less."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    seed = secrets.randbits(SEED_BITS)
    print(f"model-error: seed {seed}", file=sys.stderr, flush=True)
    try:
        require_root()
        document = calibration(load_lab(LAB, cpus=cpus), cpus).run(_quiet)
        found = validate_random(document, cpus, SET_UPS, seed, _quiet)
    except WeirError as error:
        raise SkipError(str(error)) from None
    blind, given = found.blind, found.conditional
    errors = [abs(case.blind.pps / case.measured_pps - 1) for case in found.cases]
    return Line(
        name="model-error",
        ratio=min(WANTED_MEAN / blind.error.mean, WANTED_P90 / blind.error.p90),
        min=WANTED_MEAN / max(errors),
        max=WANTED_MEAN / max(min(errors), 1e-4),
        n=len(errors),
        target=1.0,
        detail={
            "seed": seed,
            "trials": len(document.trials),
            "blind": blind.model_dump(),
            "conditional": given.model_dump(),
            "left_out_deviation": document.quality.left_out_deviation,
            "redrawn": [one.model_dump() for one in found.draws.redrawn] if found.draws else [],
            "cases": [case.model_dump() for case in found.cases],
        },
    )


def _quiet(_text: str) -> None:
    """Benches print one line each."""
