# SPDX-License-Identifier: Apache-2.0
"""disturbed-devices: rates found of simulated devices whose core the host takes away for 30 % of the time.

Forty devices drawn when it is run, as those of bench/search.py, with queues of 256 to 16,384 packets; stalls
of 1 to 20 ms in the mean beside the usual short ones. A lab's default search. *ratio* is 1 % to the greatest
error of an NDR or PDR, so 1 is the target; a goal for which nothing was found is an error of 100 %.
"""

from __future__ import annotations

import random
import statistics

from bench.pairs import Line, one_figure
from bench.search import searched, seeds_of
from tests.simulated.device import HOST_STALLS, Response, StallKind
from weir.lab.measure import Measure

DEVICES = 40
SHARE = 0.3
ERROR_MAX = 0.01


def device(seed: int) -> tuple[Response, float]:
    """The device of a seed, and the highest load that its tester offers."""
    draw = random.Random(seed)
    capacity_pps = 10 ** draw.uniform(5.7, 6.95)
    away_s = draw.uniform(0.001, 0.02)
    often = StallKind(SHARE / (1 - SHARE) / away_s, away_s * 5e5, away_s * 1e6, away_s * 2e6)
    response = Response(
        capacity_pps=capacity_pps,
        saturation_pps=capacity_pps * (1 + (draw.uniform(0.01, 0.05) if seed % 2 else 0.0)),
        buffer_packets=draw.choice([256, 1024, 4096, 16_384]),
        noise=0.0005,
        background_per_second=draw.uniform(0.05, 0.2),
        stalls=(HOST_STALLS[0], often),
    )
    return response, capacity_pps * draw.uniform(1.2, 4)


def errors(seed: int) -> list[float]:
    """Of NDR and PDR, as a share of the truth."""
    return [percent / 100 for percent in searched(*device(seed), seed, Measure()).errors_percent]


def run() -> Line:
    """The worst of all; detail has the median."""
    seeds = seeds_of(DEVICES, "disturbed-devices")
    worst = [errors(seed) for seed in seeds]
    every = [error for pair in worst for error in pair]
    greatest = max(every)
    return one_figure(
        "disturbed-devices",
        ERROR_MAX / greatest,
        n=DEVICES,
        target=1.0,
        detail={
            "error_percent_max": 100 * greatest,
            "error_percent_median": 100 * statistics.median(every),
            "ndr_percent_max": 100 * max(pair[0] for pair in worst),
            "pdr_percent_max": 100 * max(pair[1] for pair in worst),
            "devices": DEVICES,
            "first_seed": seeds[0],
        },
    )
