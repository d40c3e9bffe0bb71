# SPDX-License-Identifier: Apache-2.0
"""Control groups of either version: which hierarchies this machine has, and a group in all of them.

Linux has two versions (the kernel's admin-guide/cgroup-v2 and admin-guide/cgroup-v1), and often both are
mounted: a controller is in one of them. Version 2 ends all that is in a group at once (cgroup.kill, Linux
5.14). Without that nobody in the group may fork any more (pids.max of 0), and each process is ended by
itself.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.host.cpus import CGROUPS, cgroup_root
from weir.fabric.host.tree import Tree

CONTROLLERS = ("memory", "pids")
INSIDE = "started"
"""In version 2, where a group that limits others has no processes of its own."""
_GONE_S, _LOOK_S = 5.0, 0.01


@dataclass(frozen=True)
class Hierarchy:
    """One that is mounted."""

    top: Path
    version: int
    controllers: tuple[str, ...]
    """Of those in CONTROLLERS."""

    @property
    def useful(self) -> bool:
        """Whether it limits something, or may end all of a group."""
        return bool(self.controllers) or self.version == 2

    def writable(self) -> bool:
        """Whether root may make groups there: not in most containers."""
        return os.geteuid() != 0 or os.access(self.top, os.W_OK)


def hierarchies(root: Path = Path("/")) -> list[Hierarchy]:
    """All of them; version 2 first."""
    tree = Tree(root)
    v2 = cgroup_root(tree)
    found = []
    if v2 is not None:
        there = (tree.text(f"{v2}/cgroup.controllers") or "").split()
        found.append(Hierarchy(root / v2, 2, tuple(one for one in CONTROLLERS if one in there)))
    for place in tree.glob(f"{CGROUPS}/*/tasks") if v2 != CGROUPS else []:
        controllers = tuple(one for one in CONTROLLERS if one in place.parent.name.split(","))
        found.append(Hierarchy(root / place.parent, 1, controllers))
    return found


_REFUSALS = ("memory.failcnt", "memory.memsw.failcnt")


@dataclass(frozen=True)
class Group:
    """A group of one name in several hierarchies; its directories. Nothing, where there are none."""

    paths: tuple[Path, ...] = ()

    def entrances(self) -> list[Path]:
        """What a process writes 0 into, to be in it with all that it starts from then on."""
        inner = ((path / INSIDE if (path / INSIDE).is_dir() else path) for path in self._there())
        return [path / "cgroup.procs" for path in inner]

    def members(self) -> set[int]:
        """Pids of all that is in it, and in groups in it."""
        return {int(pid) for path in self._all() for pid in _lines(path / "cgroup.procs")}

    def count(self, file: str, key: str) -> int:
        """Sum of what its files of that name have for the key: "oom_kill" of memory.events."""
        found = 0
        for path in self._all():
            words = [line.split() for line in _lines(path / file)]
            found += sum(int(line[1]) for line in words if line[0] == key and len(line) == 2)
        return found

    def refused_memory(self) -> bool:
        """Whether it came to its limit: version 1 alone tells, and where it counts swap, by the limit of both
        alone, which it asks first."""
        return any(_lines(path / file) not in ([], ["0"]) for path in self.paths for file in _REFUSALS)

    def end(self) -> None:
        """Kills all that is in it, at once, whatever it does about it. FabricError if something stays."""
        deadline = time.monotonic() + _GONE_S
        while self.members():
            if time.monotonic() > deadline:
                raise FabricError(f"processes {sorted(self.members())} do not end", "see what keeps them: ps")
            self._kill()
            time.sleep(_LOOK_S)

    def _kill(self) -> None:
        for path in self._there():
            with suppress(OSError):  # a kernel without it, or another hierarchy
                (path / "cgroup.kill").write_text("1")
            for each in (path, path / INSIDE):
                with suppress(OSError):
                    (each / "pids.max").write_text("0")
        for pid in self.members():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Ends all in it, and removes it with the groups in it. OSError if something stays."""
        self.end()
        deadline = time.monotonic() + _GONE_S
        for path in self._all():
            while path.is_dir():
                try:
                    path.rmdir()
                except FileNotFoundError:
                    break
                except OSError:  # what was killed is on its way out
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(_LOOK_S)

    def _there(self) -> list[Path]:
        return [path for path in self.paths if path.is_dir()]

    def _all(self) -> Iterator[Path]:
        """With groups in it, the innermost first; those that go meanwhile are left out."""
        for path in self._there():
            yield from (Path(one) for one, _, _ in os.walk(path, topdown=False))


def limit(path: Path, files: Mapping[str, int], optional: Sequence[str] = ()) -> None:
    """Writes each number into the group's file of that name; `optional` ones where the kernel has them.
    OSError."""
    for name, number in files.items():
        if name not in optional or (path / name).exists():
            (path / name).write_text(str(number))


def _lines(file: Path) -> list[str]:
    with suppress(OSError):  # it has gone meanwhile, or this hierarchy has no such file
        return file.read_text().splitlines()
    return []
