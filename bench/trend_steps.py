# SPDX-License-Identifier: Apache-2.0
"""trend-steps: planted steps that `weir trend` finds, and steps that it finds where none is, against limits.
Histories have the noise of a real run: how fast a core was, trial by trial, drawn anew for each value."""

from __future__ import annotations

import statistics

import numpy as np
from numpy.typing import NDArray

from bench.pairs import Line, SkipError, one_figure
from bench.store_100k import newest_run
from weir.comparison.levels import levels
from weir.results.result import Result

HISTORIES, RUNS = 200, 100
STEP, SMALLEST = 0.03, 0.01
NOISE = 0.01
"""To which the noise is scaled: no method finds 3 % in a hundred values that vary by a tenth."""
NEAR = 5
"""Runs that a step may be found beside where it is."""
FOUND_MIN, ALARMS_MAX = 0.95, 0.01
VALUES_MIN = 100


def run() -> list[Line]:
    """Shares of histories, each to the share that is asked for."""
    real = _noise(newest_run())
    deviation = float(np.std(real))
    dice = np.random.default_rng(1)

    def history() -> NDArray[np.float64]:
        return np.exp(dice.choice(real, RUNS) / deviation * NOISE)

    alarms = sum(bool(levels(list(history()), SMALLEST).steps) for _ in range(HISTORIES)) / HISTORIES
    found = 0
    for number in range(HISTORIES):
        values, at = history(), int(dice.integers(RUNS // 3, 2 * RUNS // 3))
        values[at:] *= 1 - STEP if number % 2 else 1 + STEP
        found += any(abs(one.index - at) <= NEAR for one in levels(list(values), SMALLEST).steps)
    detail: dict[str, object] = {
        "histories": HISTORIES,
        "runs": RUNS,
        "noise": NOISE,
        "real_noise": round(deviation, 4),
        "real_values": len(real),
        "false_alarms": alarms,
        "found": found / HISTORIES,
    }
    return [
        _line("trend-steps-found", found / HISTORIES / FOUND_MIN, detail),
        _line("trend-steps-none", (1 - alarms) / (1 - ALARMS_MAX), detail),
    ]


def _noise(result: Result) -> NDArray[np.float64]:
    """Logarithms of the cycles that a piece of work took, of the core with most; their median is 0."""
    seen: dict[int, list[float]] = {}
    for _, case in result.cases():
        for trial in (*case.trials, *case.curve):
            for core, cycles in trial.piece_cycles().items():
                seen.setdefault(core, []).append(cycles)
    values = max(seen.values(), key=len, default=[])
    if len(values) < VALUES_MIN:
        raise SkipError(
            "the newest run timed its cores too seldom: `weir run labs/switching --quick` does it"
        )
    return np.log(np.asarray(values) / statistics.median(values))


def _line(name: str, ratio: float, detail: dict[str, object]) -> Line:
    return one_figure(name, ratio, n=HISTORIES, target=1.0, detail=detail)
