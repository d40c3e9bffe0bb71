# SPDX-License-Identifier: Apache-2.0
"""Who had a core all the time: the kernel tells of switches, and there was none."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from weir.fabric.outside.reading import Thread, thread

_RUNNABLE = "R"
_MOMENT_S = 0.02
"""Some clock ticks: the kernel adds to a thread's time at each."""


def ran_s(tids: Collection[int], proc: Path) -> dict[int, float]:
    """Of these threads since they began; none of one that has ended."""
    return {one.tid: one.cpu_s for one, _ in _seen(proc / str(tid) for tid in tids)}


def whose(core: int, loops: dict[int, float], proc: Path) -> int | None:
    """The thread that has the core now; None: nobody.

    `loops`: those of weir-dp, with what they had run when the time without a switch began: of one that has
    run since, nobody else is looked at.
    """
    for now, runnable in _seen(proc / str(tid) for tid in loops):
        if runnable and now.core == core and now.cpu_s > loops[now.tid]:
            return now.tid
    there = _runnable(core, proc)
    if len(there) < 2:
        return next(iter(there), None)
    time.sleep(_MOMENT_S)  # one has it, the others wait for it
    later = ran_s(there, proc)
    return max(later, key=lambda tid: later[tid] - there[tid], default=None)


def _runnable(core: int, proc: Path) -> dict[int, float]:
    """Threads that run on a core or wait for it, with what they have run."""
    tasks = (task for process in proc.glob("[0-9]*") for task in _listed(process / "task"))
    return {one.tid: one.cpu_s for one, runnable in _seen(tasks) if runnable and one.core == core}


def _listed(folder: Path) -> list[Path]:
    with suppress(OSError):
        return list(folder.iterdir())
    return []


def _seen(tasks: Iterator[Path]) -> Iterator[tuple[Thread, bool]]:
    """Those that are there, and whether they could run."""
    for task in tasks:
        with suppress(OSError):
            stat = (task / "stat").read_text()
            yield thread(task, stat), stat.rpartition(")")[2].split()[0] == _RUNNABLE
