# SPDX-License-Identifier: Apache-2.0
"""CPUs that a partition of Weir's holds, by a deployment or by `weir tune`, and how a thread gets there: one
of our own, and the polling ones of weir-dp and of a switch, under SCHED_FIFO where that is asked.

Both pin their threads by themselves. That fails where the CPU is isolated, since a thread must be in the
partition first; so it is done here, from outside, by the names that both give their threads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from weir.base.cores import parse_cpus, whole_cores_first
from weir.base.error import FabricError
from weir.fabric.host.cpus import cgroup_root, siblings
from weir.fabric.host.tree import Tree
from weir.host.facts import OWN_PARTITIONS

_PRIORITY = 1  # of SCHED_FIFO: above everything ordinary, below the kernel's own realtime threads
_SWITCH_THREAD = re.compile(r"pmd-c0*(\d+)/id:\d+")


def partitions(root: Path = Path("/")) -> dict[Path, tuple[int, ...]]:
    """CPUs by directory, of the isolated partitions that Weir has made."""
    tree = Tree(root)
    top = cgroup_root(tree)
    found = {}
    for place in tree.glob(f"{top}/{OWN_PARTITIONS}*/cpuset.cpus.partition") if top else ():
        if tree.text(str(place)) == "isolated":
            found[root / place.parent] = parse_cpus(tree.text(str(place.with_name("cpuset.cpus"))) or "")
    return found


def measuring_cpus() -> tuple[int, ...]:
    """CPUs of this process, and those that `weir tune` keeps for Weir: one of each physical core first."""
    tuned = {cpu for cpus in partitions().values() for cpu in cpus}
    return whole_cores_first({*os.sched_getaffinity(0), *tuned}, siblings(Tree()))


def holding(cpus: Sequence[int], root: Path = Path("/")) -> dict[int, Path]:
    """The partition of each of these CPUs that one holds."""
    return {cpu: path for path, there in partitions(root).items() for cpu in there if cpu in cpus}


def enter(partition: Path, thread: int = 0) -> None:
    """Moves a thread, or this process if it has only one, into a partition. OSError if the kernel refuses."""
    (partition.parent / "cgroup.procs").write_text(str(thread))
    (partition / "cgroup.threads").write_text(str(thread))


def place(pid: int, cpus: Mapping[str, int], realtime: bool) -> None:
    """Puts each named thread on its CPU. FabricError if there is none of that name, or the kernel refuses."""
    held = holding(list(cpus.values()))
    if not held and not realtime:
        return
    threads = {name: thread for thread, name in _threads(pid)}
    missing = [name for name in cpus if name not in threads]
    if missing:
        raise FabricError(f"process {pid} has no thread {', '.join(missing)}", "see its log")
    for one in set(held.values()):
        (one.parent / "cgroup.procs").write_text(str(pid))  # threads of other cgroups may not enter
    for name, cpu in cpus.items():
        if cpu in held:
            (held[cpu] / "cgroup.threads").write_text(str(threads[name]))
        os.sched_setaffinity(threads[name], [cpu])
        if realtime:
            _fifo(threads[name])


def place_switch(pid: int, realtime: bool) -> None:
    """The same for the poll-mode threads of Open vSwitch, which carry their CPU in their name."""
    found = {name: _SWITCH_THREAD.fullmatch(name) for _, name in _threads(pid)}
    place(pid, {name: int(match[1]) for name, match in found.items() if match}, realtime)


def _threads(pid: int) -> list[tuple[int, str]]:
    """Number and name of each."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it may end meanwhile
            found.append((int(task.name), (task / "comm").read_text().strip()))
    return found


def _fifo(thread: int) -> None:
    try:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError as error:
        raise FabricError(
            "this process may not make realtime threads (host.rt)",
            "give it CAP_SYS_NICE; with cgroup v1, realtime time in cpu.rt_runtime_us",
        ) from error
