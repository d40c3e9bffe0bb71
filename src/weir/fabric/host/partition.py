# SPDX-License-Identifier: Apache-2.0
"""Step kind isolation: CPUs in an isolated cpuset partition (the kernel's admin-guide/cgroup-v2, Cpuset).

The cgroup is threaded: polling threads are moved into it one by one, while the other threads of their process
stay outside. Only a process of the root cgroup can have threads there, so that is where it is put first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.cores import cpus_text
from weir.base.error import FabricError
from weir.fabric.host.cpus import cgroup_root, isolation
from weir.fabric.host.settings import Write
from weir.fabric.host.tree import Tree
from weir.fabric.site import Facts, Site
from weir.host.facts import OWN_PARTITIONS
from weir.plan import Step

_FIX = "leave `isolation` out of `host`, or mend that"


class Partition:
    """A cgroup of the deployment, with the CPUs that are not isolated already."""

    def __init__(self, root: Path = Path("/"), write: Write = Path.write_text) -> None:
        self._tree = Tree(root)
        self._write = write

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Why this machine cannot do it; None if it can. Touches nothing."""
        seen = isolation(self._tree)
        if seen.cgroup == "none":
            return "no cgroups are mounted in /sys/fs/cgroup"
        if not seen.cpuset_in_v2:
            where = "cgroup v1 has the cpuset controller" if seen.cgroup in ("v1", "both") else "it has none"
            return f"isolation needs cgroup v2 with its cpuset controller, and here {where}"
        if set(self._tree.cpus("sys/devices/system/cpu/online")) <= set(params["cpus"]):
            return "no CPU would be left to the system"
        return None

    def do(self, step: Step, site: Site) -> Facts:
        """Makes the partition; nothing if boot parameters or other deployments have isolated all of them."""
        why = self.lacking(step.params)
        if why is not None:
            raise FabricError(f"cannot {step.text}: {why}", _FIX)
        with site.alone():
            cpus = sorted(set(step.numbers("cpus")) - isolation(self._tree).alone())
            if not cpus:
                return {}
            top = self._top()
            path = top / f"{OWN_PARTITIONS}{site.deployment}"
            controls = (top / "cgroup.subtree_control").read_text().split()
            site.note({"partition": str(path), "cpus": cpus, "enabled": "cpuset" not in controls})
            if "cpuset" not in controls:
                self._write(top / "cgroup.subtree_control", "+cpuset")
            path.mkdir()
            self._write(path / "cgroup.type", "threaded")
            self._write(path / "cpuset.cpus", cpus_text(cpus))
            try:
                self._write(path / "cpuset.cpus.partition", "isolated")
            except OSError as error:
                raise FabricError(
                    f"cannot {step.text}: this kernel has no isolated partitions ({error.strerror})",
                    f"Linux 6.1 has them; {_FIX}",
                ) from error
            state = (path / "cpuset.cpus.partition").read_text().strip()
            if state != "isolated":
                raise FabricError(f"cannot {step.text}: the kernel says: {state}", _FIX)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Moves out what is still in it, and removes it."""
        if "partition" not in facts:
            return
        with site.alone():
            path = Path(facts["partition"])
            if path.is_dir():
                self._write(path / "cpuset.cpus.partition", "member")
                for thread in (path / "cgroup.threads").read_text().split():
                    with suppress(OSError):  # it may have ended by itself
                        self._write(path.parent / "cgroup.threads", thread)
                path.rmdir()
            if facts["enabled"] and not site.elsewhere("isolation") and not _limits_others(path.parent):
                with suppress(OSError):  # somebody else uses it by now
                    self._write(path.parent / "cgroup.subtree_control", "-cpuset")

    def _top(self) -> Path:
        top = cgroup_root(self._tree)
        assert top is not None  # lacking() has looked
        return self._tree.root / top


def _limits_others(top: Path) -> bool:
    """Whether a cgroup has been given CPUs, or memory nodes, which it would lose with the controller."""
    return any(
        file.read_text().strip() for name in ("cpuset.cpus", "cpuset.mems") for file in top.glob(f"*/{name}")
    )
