# SPDX-License-Identifier: Apache-2.0
"""How much of the CPUs' time control groups leave this process (the kernel's admin-guide/cgroup-v2, cpu.max,
and scheduler/sched-bwc): a container's `--cpus`, a slice's CPUQuota."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from weir.base.si import NS_PER_S, US_PER_S
from weir.fabric.host.cpus import CGROUPS, cgroup_root
from weir.fabric.host.tree import Tree


def quota_cpus(tree: Tree, whose: int | str = "self") -> float | None:
    """The least of its group and of those around it, in CPUs: 0.5 is half of one's time. None: no limit.
    `whose`: the number of a process, or of a thread."""
    return min(_limits(tree, whose), default=None)


def throttled_s(tree: Tree) -> float:
    """For how long threads of its group, and of those around it, that would have gone on were held back since
    these were made: the sum over CPUs. 0 without a limit."""
    limited = (place for place in _groups(tree, "self") if _limit(tree, place) is not None)
    return max((_held_back_s(tree, place) for place in limited), default=0.0)


def _held_back_s(tree: Tree, place: str) -> float:
    """By a group's cpu.stat: nanoseconds in v1, microseconds in v2."""
    for line in (tree.text(f"{place}/cpu.stat") or "").splitlines():
        name, _, value = line.partition(" ")
        if name in _UNITS_PER_S and value.isdigit():
            return int(value) / _UNITS_PER_S[name]
    return 0.0


_UNITS_PER_S = {"throttled_time": NS_PER_S, "throttled_usec": US_PER_S}


def _limits(tree: Tree, whose: int | str) -> Iterator[float]:
    return (limit for place in _groups(tree, whose) if (limit := _limit(tree, place)) is not None)


def _groups(tree: Tree, whose: int | str) -> Iterator[str]:
    """Where its CPU time may be limited: in the hierarchy of version 2, or in that of version 1 for it."""
    for line in (tree.text(f"proc/{whose}/cgroup") or "").splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers and (v2 := cgroup_root(tree)) is not None:
            yield from _around(v2, group)
        elif "cpu" in controllers.split(","):
            yield from _around(f"{CGROUPS}/{controllers}", group)


def _limit(tree: Tree, place: str) -> float | None:
    """In CPUs, of either version."""
    quota, _, period = (tree.text(f"{place}/cpu.max") or "").partition(" ")
    if not quota:
        quota = tree.text(f"{place}/cpu.cfs_quota_us") or ""
        period = tree.text(f"{place}/cpu.cfs_period_us") or ""
    if quota.isdigit() and period.isdigit() and int(period) > 0 and int(quota) > 0:
        return int(quota) / int(period)
    return None


def _around(top: str, group: str) -> Iterator[str]:
    """The group, and each around it up to the top; that alone where the path is one outside a container."""
    path = PurePosixPath(group.lstrip("/"))
    for one in (path, *path.parents):
        yield str(PurePosixPath(top) / one)
