# SPDX-License-Identifier: Apache-2.0
"""host-threads-*: how long the system's own threads wait where a chain polls on every core, against limits.

An ordinary thread on each core, as the kernel's workers are, wakes again and again; the kernel is asked for
grace periods of RCU, which need all cores. Without a chain too, for the file.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import time
from collections.abc import Callable

from bench.pairs import Line, SkipError, of_ratios
from bench.standing_chain import ROOT
from weir import fabric
from weir.base.si import MS_PER_S
from weir.fabric import stop_signals
from weir.lab import load_lab
from weir.procedures.driver import planned, running

WAIT_LIMIT_MS = 100.0
"""Of a thread that is to run: what an operator at a shell does not notice."""
GRACE_LIMIT_MS = 1000.0
"""Of a grace period: the kernel itself reports a stall after 21 s."""
ROUNDS = 5
WAKES = 200
SLEEP_S = 0.005
GRACES = 10
_MEMBARRIER, _GLOBAL = 324, 1 << 0  # x86-64; <linux/membarrier.h>: it waits for a grace period


def run() -> list[Line]:
    """Ratios of the limits to the longest wait of each round."""
    lab = load_lab(ROOT / "labs" / "switching", quick=True)
    refusal = fabric.check("direct")
    if refusal is not None:
        raise SkipError(refusal.missing)
    cores = sorted(os.sched_getaffinity(0))
    alone = [_round(cores) for _ in range(ROUNDS)]
    with stop_signals.held(), running(lab, planned(lab, "direct", lab.chains()[0])) as chain:
        polling = {core for node in chain.topology.nodes for core in node.cores}
        beside = [_round(sorted(polling)) for _ in range(ROUNDS)]
    return [
        _line("host-threads-wake", WAIT_LIMIT_MS, [one[0] for one in beside], [one[0] for one in alone]),
        _line("host-threads-rcu", GRACE_LIMIT_MS, [one[1] for one in beside], [one[1] for one in alone]),
    ]


def _line(name: str, limit_ms: float, beside_ms: list[float], alone_ms: list[float]) -> Line:
    detail: dict[str, object] = {
        "limit_ms": limit_ms,
        "longest_ms": [round(one, 3) for one in beside_ms],
        "longest_without_a_chain_ms": [round(one, 3) for one in alone_ms],
    }
    return of_ratios(name, [limit_ms / one for one in beside_ms], target=1.0, detail=detail)


def _round(cores: list[int]) -> tuple[float, float]:
    """The longest wait of a thread on any of the cores, and the longest grace period, in ms."""
    with multiprocessing.get_context("spawn").Pool(len(cores)) as pool:
        waits = pool.map_async(_longest_wake_s, cores, chunksize=1)
        grace_s = max(_took_s(_grace_period) for _ in range(GRACES))
        return max(waits.get()) * MS_PER_S, grace_s * MS_PER_S


def _longest_wake_s(core: int) -> float:
    os.sched_setaffinity(0, {core})
    return max(_took_s(lambda: time.sleep(SLEEP_S)) - SLEEP_S for _ in range(WAKES))


def _took_s(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _grace_period() -> None:
    if ctypes.CDLL(None, use_errno=True).syscall(_MEMBARRIER, _GLOBAL, 0) != 0:
        raise SkipError(f"membarrier: {os.strerror(ctypes.get_errno())}")
