# SPDX-License-Identifier: Apache-2.0
"""Stalls that are known: the host's (the process is stopped) and a function's (`impair` pauses)."""

from __future__ import annotations

import os
import signal
import time

from bench.data_plane import sent, weir_dp
from bench.delay_chain import CORE, configure, start
from weir.protocol.traffic_results import StallCount

STALLS = 100
STALL_S = 0.003
EVERY_S = 0.02
THRESHOLD_US = 1000  # the host's own stalls are rarely so long
SECONDS = STALLS * EVERY_S + 0.5


def by_host() -> StallCount:
    """What the loop saw of STALLS stops of its process."""
    with weir_dp(CORE) as client:
        configure(client, {}, stall_threshold_us=THRESHOLD_US)
        pid = client.hello().pid
        start(client, SECONDS)
        for _ in range(STALLS):
            time.sleep(EVERY_S - STALL_S)
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STALL_S)
            os.kill(pid, signal.SIGCONT)
        return next(stall for stall in sent(client).stalls if stall.core == CORE)


def by_function() -> tuple[int, StallCount]:
    """Long polls of the function, and what the loop saw, while it paused STALLS times or a few more."""
    options = {"stall_us": round(STALL_S * 1e6), "stall_every_ms": round(EVERY_S * 1e3)}
    with weir_dp(CORE) as client:
        configure(client, options, stall_threshold_us=THRESHOLD_US)
        start(client, SECONDS)
        stall = next(stall for stall in sent(client).stalls if stall.core == CORE)
        areas = {area.name: area for area in client.ledger().areas}
        return areas["function"].long_polls, stall
