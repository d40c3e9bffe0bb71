# SPDX-License-Identifier: Apache-2.0
"""The core that weir-dp polls in a test: one of the last half, for pytest's processes side by side one each.

Those processes themselves have the first half; on two cores that is the only way to be quick.
"""

from __future__ import annotations

import os


def _polled_core() -> int:
    cores = sorted(os.sched_getaffinity(0))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return cores[-1 - worker % max(1, len(cores) // 2)]


CORE = _polled_core()
