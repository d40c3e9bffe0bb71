# SPDX-License-Identifier: Apache-2.0
"""How long the procedures take, about: an RFC 2544 run is hours, and nobody should learn that afterwards."""

from __future__ import annotations

import math

from weir.lab.rfc2544 import Rfc2544Options

SEARCH_TRIALS = 12
LOSS_TRIALS = 8


def expected_s(options: Rfc2544Options, frames: int, setups: int) -> float:
    """Seconds for so many frame sizes on that many built chains."""
    rest_s = options.restabilise_s
    burst_trials = 1 + math.ceil(math.log2(1 / options.burst_step)) * (1 + options.burst_verifications / 2)
    each = {
        "throughput": len(options.search) * SEARCH_TRIALS * (options.trial_s + rest_s),
        "latency": options.latency_repeats * (options.latency_s + rest_s),
        "frame-loss": min(LOSS_TRIALS, math.ceil(1 / options.loss_step)) * (options.trial_s + rest_s),
        "back-to-back": options.burst_repeats * burst_trials * (options.burst_s / 2 + options.burst_rest_s),
        "recovery": options.recovery_repeats * (options.overload_s + options.recovery_s + rest_s),
        "reset": options.reset_repeats * (options.reset_after_s + options.reset_watch_s + rest_s),
    }
    needed = {"throughput", *options.tests}
    return setups * frames * sum(seconds for test, seconds in each.items() if test in needed)
