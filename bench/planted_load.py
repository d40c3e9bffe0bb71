# SPDX-License-Identifier: Apache-2.0
"""A program that takes a core in bursts, as another tenant's or a forgotten job does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PROGRAM = """
import os, random, sys, time
core, burst_s, share = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
os.sched_setaffinity(0, {core})
while os.getppid() != 1:
    end = time.monotonic() + burst_s
    while time.monotonic() < end:
        pass
    time.sleep(random.expovariate(share / (1 - share) / burst_s))
"""


@contextmanager
def bursts(core: int, burst_ms: float, share: float) -> Iterator[None]:
    """For the body: works on that core for `burst_ms` at once as far as the scheduler lets it, and for about
    that share of its time."""
    arguments = [sys.executable, "-c", _PROGRAM, str(core), str(burst_ms / 1e3), str(share)]
    with subprocess.Popen(arguments) as program:
        try:
            yield
        finally:
            program.kill()
