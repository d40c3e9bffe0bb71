# SPDX-License-Identifier: Apache-2.0
"""campaign-hosts: a campaign over two nodes of a Ray cluster against the same over one of them.

Its trials only wait, a second each: so what is measured is what the campaign itself costs, its store and its
way over Ray, with TLS. Nodes are namespaces of this machine. A rate is of points a second, from when all
hosts have said what they offer until the last point is in the store. What comes before and after, seconds
however long a campaign lasts, for which two hosts share the cores of one here, is in the detail:

- `start_and_end_s`: of each campaign over two nodes, and of each over one.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from dataclasses import replace
from itertools import count
from pathlib import Path

from bench.pairs import Line, SkipError, interleave, line
from tests.ray_cluster import ADDRESS, RayCluster
from tests.waiting_hosts.campaign import FRAMES, TOOK
from weir.fabric.offer import offer

SETUPS, WAIT_S = 2, 1.0
PAIRS = 5
TARGET = 1.8
_LONGEST_S = 600.0


def run() -> Line:
    """The ratio of points a second."""
    require_ray()
    with tempfile.TemporaryDirectory(prefix="weir-campaign-") as folder:
        cluster = RayCluster(Path(folder), [None, offer(), offer()])
        try:
            number = count()
            besides_s: dict[int, list[float]] = {2: [], 1: []}

            def rate(hosts: int) -> float:
                measuring_s, whole_s = _took(cluster, hosts, Path(folder) / f"{next(number)}.db")
                besides_s[hosts].append(whole_s - measuring_s)
                return SETUPS * FRAMES / measuring_s

            taken = interleave(lambda: rate(2), lambda: rate(1), PAIRS)
        finally:
            cluster.close()
    found = line("campaign-hosts", taken, target=TARGET, unit="points_per_s")
    return replace(found, detail={**found.detail, "start_and_end_s": [besides_s[2], besides_s[1]]})


def require_ray() -> None:
    """SkipError where no cluster can be started."""
    if os.geteuid() != 0:
        raise SkipError("needs root")
    if importlib.util.find_spec("ray") is None:
        raise SkipError("needs Ray: `make ray`")


def _took(cluster: RayCluster, hosts: int, store: Path) -> tuple[float, float]:
    """Seconds: while it measured, and in all."""
    words = {"on": ADDRESS, "store": store, "setups": SETUPS, "rounds": 1, "wait": WAIT_S, "hosts": hosts}
    asked = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    process = cluster.run(1, "-m", "tests.waiting_hosts.campaign", *asked)
    said, _ = process.communicate(timeout=_LONGEST_S)
    took = [one.split()[1:] for one in said.splitlines() if one.startswith(TOOK)]
    if process.returncode or not took:
        raise SkipError(f"the campaign ended with {process.returncode}: {said[-500:]}")
    measuring_s, whole_s = map(float, took[0])
    return measuring_s, whole_s
