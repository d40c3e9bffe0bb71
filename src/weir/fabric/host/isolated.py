# SPDX-License-Identifier: Apache-2.0
"""CPUs that a partition of Weir's holds, by a deployment or by `weir tune`, and how a thread gets there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weir.base.cores import parse_cpus
from weir.fabric.host.cpus import cgroup_root
from weir.fabric.host.tree import Tree
from weir.host.facts import OWN_PARTITIONS


def partitions(root: Path = Path("/")) -> dict[Path, tuple[int, ...]]:
    """CPUs by directory, of the isolated partitions that Weir has made."""
    tree = Tree(root)
    top = cgroup_root(tree)
    found = {}
    for place in tree.glob(f"{top}/{OWN_PARTITIONS}*/cpuset.cpus.partition") if top else ():
        if tree.text(str(place)) == "isolated":
            found[root / place.parent] = parse_cpus(tree.text(str(place.with_name("cpuset.cpus"))) or "")
    return found


def holding(cpus: Sequence[int], root: Path = Path("/")) -> dict[int, Path]:
    """The partition of each of these CPUs that one holds."""
    return {cpu: path for path, there in partitions(root).items() for cpu in there if cpu in cpus}


def enter(partition: Path, thread: int = 0) -> None:
    """Moves a thread, or this process if it has only one, into a partition. OSError if the kernel refuses."""
    (partition.parent / "cgroup.procs").write_text(str(thread))
    (partition / "cgroup.threads").write_text(str(thread))
