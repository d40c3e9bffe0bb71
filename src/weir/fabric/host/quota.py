# SPDX-License-Identifier: Apache-2.0
"""How much of the CPUs' time control groups leave this process (the kernel's admin-guide/cgroup-v2, cpu.max,
and scheduler/sched-bwc): a container's `--cpus`, a slice's CPUQuota."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from weir.fabric.host.cpus import CGROUPS, cgroup_root
from weir.fabric.host.tree import Tree


def quota_cpus(tree: Tree) -> float | None:
    """The least of its group and of those around it, in CPUs: 0.5 is half of one's time. None: no limit."""
    return min(_limits(tree), default=None)


def _limits(tree: Tree) -> Iterator[float]:
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers and (v2 := cgroup_root(tree)) is not None:
            for place in _around(v2, group):
                quota, _, period = (tree.text(f"{place}/cpu.max") or "max").partition(" ")
                if quota.isdigit() and period.isdigit() and int(period) > 0:
                    yield int(quota) / int(period)
        elif "cpu" in controllers.split(","):
            for place in _around(f"{CGROUPS}/{controllers}", group):
                quota_us = tree.number(f"{place}/cpu.cfs_quota_us")
                period_us = tree.number(f"{place}/cpu.cfs_period_us")
                if quota_us is not None and quota_us > 0 and period_us:
                    yield quota_us / period_us


def _around(top: str, group: str) -> Iterator[str]:
    """The group, and each around it up to the top; that alone where the path is one outside a container."""
    path = PurePosixPath(group.lstrip("/"))
    for one in (path, *path.parents):
        yield str(PurePosixPath(top) / one)
