# SPDX-License-Identifier: Apache-2.0
"""Step kind control-group: what a user's program, with all that it starts, may take of this machine; and by
which all of that is ended, wherever it has gone: into a session or a network namespace of its own, without
the environment that it was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric.host import isolated
from weir.fabric.host.control_groups import CONTROLLERS, INSIDE, Group, Hierarchy, hierarchies, limit
from weir.fabric.host.cpus import isolation
from weir.fabric.host.partition import Partition
from weir.fabric.host.tree import Tree
from weir.fabric.site import Facts, Site
from weir.plan import Step

_KB_PER_MB, _BYTES_PER_MB = 1 << 10, 1 << 20
_OWN_PROCESSES = {False: 4, True: 64}
"""Of Weir's around a program, and around a container: the runtime has threads."""
_OWN_MEMORY_MB = {False: 0, True: 64}
_LIMITS = {"memory": "limit of memory", "pids": "limit of processes"}
_NO_END = "way to end all that it starts"


class ControlGroup:
    """A group in each hierarchy that limits something."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Why this machine makes no group; None if it makes one. `isolated` of `params`: CPUs that the
        deployment takes for itself before. Touches nothing."""
        found = [one for one in hierarchies(self._root) if one.useful]
        if not found:
            return "no control groups that limit memory or processes are mounted in /sys/fs/cgroup"
        if not any(one.writable() for one in found):
            return "/sys/fs/cgroup may not be written"
        held = self._held(params["cores"]) or self._will_be_held(params)
        if not list(_usable(found, held=held)):
            return "its cores are in an isolated partition of control groups v2, and memory is limited there"
        return None

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it, with what limits there are; `without` has what there are not."""
        params = step.params
        if self.lacking(params) is not None:
            return {"without": [*_LIMITS.values(), _NO_END]}
        name = str(params["netns"])
        paths = [one.top / name for one in hierarchies(self._root)]
        there = next((path for path in paths if path.exists()), None)
        if there is not None:
            raise FabricError(f"there is a {there} already", "it is not Weir's: remove it")
        site.note({"groups": [str(path) for path in paths]})
        memory_mb = int(str(params["memory_limit_mb"])) or available_mb(self._root) // 2
        files = _files(params, memory_mb)
        limited: set[str] = set()
        ends = False
        for one in _usable(hierarchies(self._root), held=self._held(step.numbers("cores"))):
            with suppress(OSError):
                ends |= _made(one, one.top / name)
                limited |= _limited(one, one.top / name, files, site)
        without = [said for key, said in _LIMITS.items() if key not in limited]
        return {"memory_mb": memory_mb, "without": without + ([] if ends or "pids" in limited else [_NO_END])}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends all that is in it, and removes it; what a container's runtime has put below it, too."""
        _group(facts).remove()
        for controller in CONTROLLERS:
            if f"enabled_{controller}" in facts:
                with site.alone():
                    _disable(Path(facts[f"enabled_{controller}"]), controller, site)

    def _held(self, cores: Sequence[int]) -> bool:
        return bool(isolated.holding(cores, self._root))

    def _will_be_held(self, params: Mapping[str, Any]) -> bool:
        cpus = params.get("isolated", ())
        asked = {*cpus} - isolation(Tree(self._root)).alone()
        return not asked.isdisjoint(params["cores"]) and not Partition(self._root).lacking({"cpus": cpus})


def _usable(found: Iterable[Hierarchy], *, held: bool) -> Iterator[Hierarchy]:
    """A process is in one group of a hierarchy: one on cores of a partition is in that."""
    yield from (one for one in found if one.useful and one.writable() and not (held and one.version == 2))


def group_of(site: Site, node: str) -> Group:
    """That function's; an empty one where none could be made, or it has none."""
    with suppress(KeyError):
        return _group(site.facts_of(f"control-group:{node}"))
    return Group()


def exceeded(site: Site, params: Mapping[str, Any], *, killed: bool) -> tuple[str, str] | None:
    """Which limit the program `params["node"]` ran into, and what to do; None: none. `killed`: it was ended
    by SIGKILL: a container's own group, which version 1 counts that in, may be gone with it."""
    node = str(params["node"])
    group = group_of(site, node)
    if not group.paths:
        return None
    ends = group.count("memory.events", "oom_kill") + group.count("memory.oom_control", "oom_kill")
    if ends or (killed and group.refused_memory()):
        most_mb = site.facts_of(f"control-group:{node}")["memory_mb"]
        what = f"has taken more than its {most_mb} MB of memory, and the kernel has ended a process of it"
        return what, "raise program.memory_limit_mb, or see what it takes memory for"
    if group.count("pids.events", "max"):
        what = f"has started more than its {params['processes']} processes and threads"
        return what, "raise program.processes, or see what it starts"
    return None


def available_mb(root: Path = Path("/")) -> int:
    """Memory that programs may take without others having to give some back."""
    for line in (Tree(root).text("proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // _KB_PER_MB
    return 0


def _group(facts: Facts) -> Group:
    return Group(tuple(Path(one) for one in facts.get("groups", [])))


def _made(hierarchy: Hierarchy, path: Path) -> bool:
    """Whether the kernel ends all of it at once. OSError."""
    path.mkdir()
    if hierarchy.version == 2:
        (path / INSIDE).mkdir()
    return (path / "cgroup.kill").exists()


def _files(params: Mapping[str, Any], memory_mb: int) -> dict[int, dict[str, dict[str, int]]]:
    """What is written, by version and controller. Memory has no room in swap beyond that."""
    contained = bool(params["contained"])
    memory_bytes = (memory_mb + _OWN_MEMORY_MB[contained]) * _BYTES_PER_MB
    pids = {"pids.max": int(params["processes"]) + _OWN_PROCESSES[contained]}
    v2 = {"memory.max": memory_bytes, "memory.swap.max": 0}
    v1 = {"memory.limit_in_bytes": memory_bytes, "memory.memsw.limit_in_bytes": memory_bytes}
    return {2: {"memory": v2, "pids": pids}, 1: {"memory": v1, "pids": pids}}


_OPTIONAL = ("memory.swap.max", "memory.memsw.limit_in_bytes")


def _limited(
    hierarchy: Hierarchy, path: Path, files: Mapping[int, Mapping[str, Mapping[str, int]]], site: Site
) -> set[str]:
    done = set()
    for controller in hierarchy.controllers:
        with suppress(OSError):
            if hierarchy.version == 2:
                _enable(hierarchy.top, controller, site)
            limit(path, files[hierarchy.version][controller], _OPTIONAL)
            done.add(controller)
    return done


def _enable(top: Path, controller: str, site: Site) -> None:
    """For groups right below the root of version 2. OSError where that is a container's, with processes."""
    control, key = top / "cgroup.subtree_control", f"enabled_{controller}"
    with site.alone():
        there = controller in control.read_text().split()
        if not there or any(key in facts for facts in site.elsewhere("control-group")):
            site.note({key: str(top)})
        if not there:
            control.write_text(f"+{controller}")


def _disable(top: Path, controller: str, site: Site) -> None:
    """Unless somebody else limits something by it."""
    if any(f"enabled_{controller}" in facts for facts in site.elsewhere("control-group")):
        return
    if all(file.read_text().strip() == "max" for file in top.glob(f"*/{controller}.max")):
        with suppress(OSError):  # somebody uses it further below
            (top / "cgroup.subtree_control").write_text(f"-{controller}")
