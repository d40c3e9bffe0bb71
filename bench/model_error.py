# SPDX-License-Identifier: Apache-2.0
"""model-error: rates of set-ups that the cost model was not made of, against what it says of them.

Calibrates with labs/predict, then measures labs/predict/held-out. The paper's mean deviation is 3.74 %.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.pairs import Line, SkipError
from weir.dataplane import DataPlaneError
from weir.fabric import FabricError, require_root
from weir.jobs.calibration import calibration
from weir.jobs.validation import validate
from weir.spec import load_lab

LAB = Path(__file__).resolve().parent.parent / "labs" / "predict"
PAPER_ERROR = 0.037


def run() -> Line:
    """Ratio of the paper's mean error to ours; detail has P90, worst, coverage and the naive sum's error."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    try:
        require_root()
        document = calibration(load_lab(LAB, cpus=cpus), cpus).run(_quiet)
        labs = [load_lab(path, cpus=cpus) for path in sorted((LAB / "held-out").glob("*.yml"))]
        found = validate(labs, document, _quiet)
    except (FabricError, DataPlaneError) as error:
        raise SkipError(str(error)) from None
    errors = [abs(case.predicted_pps / case.measured_pps - 1) for case in found.cases]
    ratio = PAPER_ERROR / found.error.mean
    return Line(
        name="model-error",
        ratio=ratio,
        min=PAPER_ERROR / max(errors),
        max=PAPER_ERROR / max(min(errors), 1e-4),
        n=len(errors),
        target=1.0,
        detail={
            "trials": len(document.trials),
            "mean_error": found.error.mean,
            "p90_error": found.error.p90,
            "worst_error": found.error.worst,
            "bias": found.error.bias,
            "covered": found.covered,
            "naive_mean_error": found.naive_error.mean,
            "error_to_naive": found.error.mean / found.naive_error.mean,
            "cases": [case.model_dump() for case in found.cases],
        },
    )


def _quiet(_text: str) -> None:
    """Benches print one line each."""
