# SPDX-License-Identifier: Apache-2.0
"""Processors, NUMA nodes and isolation as the kernel shows them (ABI/sysfs-devices-system-cpu)."""

from __future__ import annotations

import os

from weir.base.cores import parse_cpus
from weir.fabric.host.tree import Tree
from weir.host.facts import Cpus, Isolation, Node, Partition

_CPU = "sys/devices/system/cpu"
_FLAGS = frozenset({"hypervisor", "constant_tsc", "nonstop_tsc", "sse4_2", "avx2", "avx512f", "vmx", "svm"})
CGROUPS = "sys/fs/cgroup"


def cpus(tree: Tree) -> Cpus:
    """Processors."""
    online = tree.cpus(f"{_CPU}/online")
    packages = {tree.text(f"{_CPU}/cpu{cpu}/topology/physical_package_id") for cpu in online}
    flags = (cpuinfo(tree, "flags") or "").split()
    return Cpus(
        model=cpuinfo(tree, "model name") or "unknown",
        flags=tuple(sorted(_FLAGS & set(flags))),
        online=online,
        allowed=tuple(sorted(os.sched_getaffinity(0))) if tree.real else online,
        siblings=siblings(tree),
        smt_control=tree.text(f"{_CPU}/smt/control"),
        packages=max(1, len(packages)),
        nodes=nodes(tree),
        hypervisor=hypervisor(tree),
    )


def siblings(tree: Tree) -> tuple[tuple[int, ...], ...]:
    """The threads of each physical core that has more than one online."""
    online = tree.cpus(f"{_CPU}/online")
    groups = {tree.cpus(f"{_CPU}/cpu{cpu}/topology/thread_siblings_list") for cpu in online}
    return tuple(sorted(group for group in groups if len(group) > 1))


def nodes(tree: Tree) -> tuple[Node, ...]:
    """NUMA nodes; none where the kernel names none."""
    found = []
    for path in tree.glob("sys/devices/system/node/node[0-9]*"):
        meminfo = tree.text(f"{path}/meminfo") or ""
        total_kb = next((line.split()[-2] for line in meminfo.splitlines() if "MemTotal" in line), None)
        found.append(
            Node(
                number=int(path.name.removeprefix("node")),
                cpus=tree.cpus(f"{path}/cpulist"),
                memory_mb=int(total_kb) // 1024 if total_kb else None,
            )
        )
    return tuple(found)


def hypervisor(tree: Tree) -> str:
    """The vendor that a virtual machine shows; `unknown` where it shows none; empty on bare metal."""
    if "hypervisor" not in (cpuinfo(tree, "flags") or "").split():
        return ""
    return tree.text("sys/class/dmi/id/sys_vendor") or "unknown"


def cpuinfo(tree: Tree, key: str) -> str | None:
    """What /proc/cpuinfo says of the first processor."""
    for line in (tree.text("proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def isolation(tree: Tree) -> Isolation:
    """What boot parameters and cgroups keep free."""
    cmdline = tree.text("proc/cmdline")
    words = dict(word.partition("=")[::2] for word in (cmdline or "").split())
    v2 = cgroup_root(tree)
    v1 = tree.exists(f"{CGROUPS}/cpuset")
    return Isolation(
        cmdline=cmdline,
        isolated=tree.cpus(f"{_CPU}/isolated"),
        nohz_full=tree.cpus(f"{_CPU}/nohz_full"),
        rcu_nocbs=_given(words.get("rcu_nocbs", "")),
        cgroup="both" if v1 and v2 else "v2" if v2 else "v1" if v1 else "none",
        cpuset_in_v2=v2 is not None and "cpuset" in (tree.text(f"{v2}/cgroup.controllers") or "").split(),
        partitions=_partitions(tree, v2) if v2 else (),
    )


def cgroup_root(tree: Tree) -> str | None:
    """Where cgroup v2 is, relative to the root: its usual place, or the one beside v1."""
    for place in (CGROUPS, f"{CGROUPS}/unified"):
        if tree.exists(f"{place}/cgroup.controllers"):
            return place
    return None


def _partitions(tree: Tree, v2: str) -> tuple[Partition, ...]:
    found = []
    for depth in ("*", "*/*"):
        for path in tree.glob(f"{v2}/{depth}/cpuset.cpus.partition"):
            state = tree.text(str(path)) or "member"
            if state != "member":
                cpus_there = tree.cpus(str(path.with_name("cpuset.cpus")))
                name = str(path.parent.relative_to(v2))
                found.append(Partition(path=name, cpus=cpus_there, state=state))
    return tuple(found)


def _given(text: str) -> tuple[int, ...]:
    """A list of CPUs of the command line; empty for `all`, and for what only the kernel understands."""
    try:
        return parse_cpus(text)
    except ValueError:
        return ()
