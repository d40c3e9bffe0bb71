# SPDX-License-Identifier: Apache-2.0
"""Step kind hugepages: enough free 2 MiB pages where the cores are, and the old numbers back afterwards.

Deployments may overlap and go in any order, so what counts is how many pages each has added to the pool of a
NUMA node. The number that the pool had without any of them is journalled too: where their sum no longer
explains the number found, somebody else has set it, and it stays.

A tuned host promises its pages to deployments that come later: for another tuning they are not free. Nor are
those for anybody on which a deployment relies whose weir-dp has not taken them yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.base.cores import parse_cpus
from weir.base.error import FabricError
from weir.fabric.host.cpus import nodes
from weir.fabric.host.tree import Tree
from weir.fabric.site import Facts, Site, generation, newest
from weir.plan import Step

DIRECTORY = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
MEMINFO = Path("/proc/meminfo")
NODES = Path("/sys/devices/system/node")
PAGE_MB = 2
MARGIN_MB = 64  # DPDK's own structures besides packet buffers
_NEEDED = "needed in "
"""Before the name of a pool: how many free pages a deployment relies on there."""


class Hugepages:
    """Raises the number of pages only if too few are free. Still too few: weir-dp does without, says so; of a
    tuning, where there is none, the facts say it, as `lacking`."""

    def do(self, step: Step, site: Site) -> Facts:
        """Numbers before and asked for are journalled before anything changes.

        FabricError if the lab requires them, and the kernel gives fewer.
        """
        memory_mb = step.params["memory_mb"]
        assert isinstance(memory_mb, int)
        lacking, promised = 0, bool(step.params.get("promised"))
        try:
            with site.alone(everywhere=True):
                for pool, share_mb in _shares(memory_mb, step.numbers("cpus")):
                    lacking += _raise(pool, share_mb, site, promised=promised)
        except OSError:
            lacking = memory_mb // PAGE_MB  # no hugepages here, or not ours to change: weir-dp falls back
        if lacking > 0 and step.params.get("required"):
            raise FabricError(
                f"{lacking} hugepages of 2 MiB are lacking, and the lab requires them",
                "free memory, reserve them at boot, or set host.hugepages to auto",
            )
        return {"lacking": lacking} if lacking > 0 and promised else {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Takes away the pages that this step has added, unless somebody else has changed a number."""
        with site.alone(everywhere=True):
            for place, pool in facts.items():
                if isinstance(pool, dict):
                    _lower(Path(place), pool, site)


def free_mb() -> int:
    """Memory in pages that nobody has, or was promised and has not touched yet."""
    try:
        free, reserved = (int((DIRECTORY / f"{one}_hugepages").read_text()) for one in ("free", "resv"))
    except (OSError, ValueError):
        return 0
    return PAGE_MB * max(0, free - reserved)


def free_on_each_node_mb() -> int:
    """So much at least is free on every NUMA node with memory, for a program that has pages of the default
    size on each; 0 where the default is another one."""
    try:
        if f"Hugepagesize: {PAGE_MB << 10} kB" not in " ".join(MEMINFO.read_text().split()):
            return 0
        if not (NODES / "has_memory").exists():
            return free_mb()
        homes = parse_cpus((NODES / "has_memory").read_text().strip())
        pools = [NODES / f"node{node}/hugepages" / DIRECTORY.name for node in homes]
        return PAGE_MB * min(_number(pool, "free_hugepages") for pool in pools)
    except (OSError, ValueError):
        return 0


def node_of(cpu: int) -> int:
    """The NUMA node of a CPU; 0 where the kernel names none."""
    return next((node.number for node in nodes(Tree()) if cpu in node.cpus), 0)


def _shares(memory_mb: int, cpus: Sequence[int]) -> Iterator[tuple[Path, int]]:
    """Pools, and how much memory is to be free in each: by node, as many cores as there are."""
    homes = [node_of(cpu) for cpu in cpus]
    pools = {node: NODES / f"node{node}/hugepages" / DIRECTORY.name for node in sorted(set(homes))}
    if not DIRECTORY.exists() or not pools or not all(pool.exists() for pool in pools.values()):
        yield DIRECTORY, memory_mb
        return
    for node, pool in pools.items():
        yield pool, -(-memory_mb * homes.count(node) // len(homes))


def _raise(pool: Path, memory_mb: int, site: Site, *, promised: bool) -> int:
    """Pages that are still lacking afterwards."""
    before, others = _persistent(pool), _others(pool, site)
    needed = (memory_mb + MARGIN_MB + PAGE_MB - 1) // PAGE_MB
    free = _number(pool, "free_hugepages") - _waited_for(pool, site)
    if promised:
        free -= _added([one for one in others if one.get("promised")])
    else:
        site.note({f"{_NEEDED}{pool}": needed})
    missing = needed - max(0, free)
    if missing <= 0:
        return 0
    base, generation = _base(before, others)
    facts = {"base": base, "generation": generation, "before": before, "asked": before + missing}
    facts |= {"promised": True} if promised else {}
    site.note({str(pool): facts})
    (pool / "nr_hugepages").write_text(str(before + missing))
    got = _persistent(pool)
    site.note({str(pool): facts | {"got": got}})
    return before + missing - got


def _waited_for(pool: Path, site: Site) -> int:
    """Pages that other deployments rely on and have not taken yet, or have just given back."""
    noted = site.elsewhere("hugepages", everywhere=True, without="weir-dp")
    return sum(int(facts.get(f"{_NEEDED}{pool}", 0)) for facts in noted)


def _lower(pool: Path, facts: Facts, site: Site) -> None:
    others = [one for one in _others(pool, site) if generation(one) == generation(facts)]
    now = _persistent(pool)
    extra = now - int(facts["base"]) - _added(others)
    asked = facts["asked"] - facts["before"]
    ours = facts["got"] - facts["before"] if "got" in facts else min(asked, extra)
    if ours > 0 and 0 <= extra - ours <= _unknown(others):
        (pool / "nr_hugepages").write_text(str(now - ours))
        site.note({str(pool): facts | {"got": facts["before"]}})  # from now on it has added none


def _base(now: int, others: Sequence[Facts]) -> tuple[int, int]:
    """The number without any of Weir's pages, and the generation of those who share it.

    Somebody else who sets the number ends a generation: those in it give nothing back, and what is there now
    is that one's.
    """
    sharing = newest(others)
    for base in {int(one["base"]) for one in sharing.members}:
        if 0 <= now - base - _added(sharing.members) <= _unknown(sharing.members):
            return base, sharing.number
    return now, sharing.following


def _others(pool: Path, site: Site) -> list[Facts]:
    """What the other deployments which stand have noted of that pool."""
    noted = site.elsewhere("hugepages", everywhere=True)
    return [facts[str(pool)] for facts in noted if str(pool) in facts]


def _added(others: Sequence[Facts]) -> int:
    """Pages that they have added."""
    return sum(one["got"] - one["before"] for one in others if "got" in one)


def _unknown(others: Sequence[Facts]) -> int:
    """Pages that they may have added besides: the kernel may give those that were killed before they noted
    it any part of what they asked for."""
    return sum(one["asked"] - one["before"] for one in others if "got" not in one)


def _persistent(pool: Path) -> int:
    """Pages that stay until somebody takes them away.

    Not those that the kernel could not take away, since a program has them: they go with it.
    """
    return _number(pool, "nr_hugepages") - _number(pool, "surplus_hugepages")


def _number(pool: Path, name: str) -> int:
    return int((pool / name).read_text())
