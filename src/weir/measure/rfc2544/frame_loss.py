# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.3: the share of frames lost at the maximum rate, and at loads below it, step by step, until two
successive trials lose nothing.
"""

from __future__ import annotations

import math

from weir.measure.rfc2544.bench import Bench
from weir.results.rfc2544 import LossStep, LossTest

LOSSLESS_TRIALS = 2


def measure_frame_loss(bench: Bench) -> LossTest:
    """From the maximum rate, or what of it the tester can do, down."""
    options = bench.options
    shares = loss_shares(options.loss_step, bench.reachable_pps / bench.maximum.pps)
    report = LossTest(trial_s=options.trial_s)
    lossless = 0
    for number, share in enumerate(shares):
        bench.phase("frame loss", number + 1, len(shares))
        load_pps = share * bench.maximum.pps
        trial = bench.runner.valid("frame-loss", load_pps, options.trial_s).trial
        report.steps.append(
            LossStep(
                share=share,
                load_pps=load_pps,
                loss_ratio=trial.loss_ratio if trial.valid else None,
                why=None if trial.valid else trial.invalid_because[0],
            )
        )
        lossless = lossless + 1 if trial.valid and trial.delivered == trial.offered else 0
        if lossless == LOSSLESS_TRIALS:
            report.complete = True
            break
    return report


def loss_shares(step: float, highest: float) -> list[float]:
    """1, 1 - step, …, the last above 0; what is above `highest` is replaced by that, once."""
    count = math.ceil(round(1 / step, 9))
    wanted = [round(1 - index * step, 9) for index in range(count)]
    below = [share for share in wanted if share < highest]
    return below if len(below) == len(wanted) else [highest, *below]
