# SPDX-License-Identifier: Apache-2.0
"""Who uses this machine now: deployments of Weir's, and programs that have its CPUs. For `weir doctor`."""

from __future__ import annotations

import os
import time
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.deployment import Deployment, deployments
from weir.fabric.own_folder import folders_left
from weir.fabric.vm import storage
from weir.host.facts import Facts, Standing, Taker, Unseen

LOOK_S = 0.5
TAKERS_SHOWN = 5
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_UTIME, _STIME, _CPU = 11, 12, 36
"""Places in /proc/PID/stat behind the name, proc(5)."""


def in_use(seen: Facts, proc: Path = Path("/proc"), look_s: float = LOOK_S) -> Facts:
    """The same facts with who uses the machine, which takes `look_s` to see."""
    stands, unseen = _stands()
    guests_left, hidden = _guests_left()
    found = [Standing(id=one.id, state=one.state()) for one in stands or ()]
    read = [one for one, said in zip(stands or (), found, strict=True) if said.state != "unreadable"]
    own = {pid for one in read for pid in one.processes().values()}
    return seen.model_copy(
        update={
            "deployments": None if stands is None else tuple(found),
            "guests_left": guests_left,
            "folders_left": tuple(str(path) for path in folders_left()),
            "takers": _takers(proc, look_s, own),
            "unseen": (*seen.unseen, *unseen, *hidden),
        }
    )


def _stands() -> tuple[list[Deployment] | None, list[Unseen]]:
    try:
        return deployments(), []
    except (FabricError, OSError) as error:
        return None, [Unseen(what="deployments", why=str(error))]


def _guests_left() -> tuple[tuple[str, ...] | None, list[Unseen]]:
    try:
        return tuple(str(path) for path in storage.left()), []
    except OSError as error:
        return None, [Unseen(what="guests' directories", why=str(error))]


def _takers(proc: Path, look_s: float, own: set[int]) -> tuple[Taker, ...]:
    before = _seen(proc)
    time.sleep(look_s)
    found = [
        Taker(
            name=name,
            pid=pid,
            cpu=cpu,
            share=round((ticks - before[pid][1]) / _TICKS_PER_S / look_s, 3),
            own=pid in own,
        )
        for pid, (name, ticks, cpu) in _seen(proc).items()
        if pid in before and pid != os.getpid() and ticks > before[pid][1]
    ]
    return tuple(sorted(found, key=lambda one: -one.share)[:TAKERS_SHOWN])


def _seen(proc: Path) -> dict[int, tuple[str, int, int]]:
    """Name, ticks of all threads, and CPU, by pid."""
    found = {}
    for path in proc.glob("[0-9]*/stat"):
        try:
            head, _, rest = path.read_text(errors="replace").rpartition(")")
        except OSError:
            continue  # it has ended
        fields = rest.split()
        name = head.partition("(")[2]
        found[int(path.parent.name)] = (name, int(fields[_UTIME]) + int(fields[_STIME]), int(fields[_CPU]))
    return found
