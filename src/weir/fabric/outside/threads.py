# SPDX-License-Identifier: Apache-2.0
"""CPU time of threads, and the core that each ran on last: /proc/PID/task/TID/schedstat and stat."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_USER_HZ = os.sysconf("SC_CLK_TCK")
_UTIME, _STIME, _PROCESSOR = 14, 15, 39  # fields of proc_pid_stat(5)
_NUMBER = re.compile(r"[-/:]?(id:)?\d+$")


@dataclass(frozen=True)
class Thread:
    """One thread."""

    tid: int
    name: str
    core: int
    cpu_s: float
    """Since it began. With the softirqs that it ran in its system calls."""
    waited_s: float = 0.0
    """For its core, which others had; 0 where the kernel does not count it."""

    @property
    def role(self) -> str:
        """Its name without the number that tells it from its like: "revalidator"."""
        return _NUMBER.sub("", self.name) or self.name


def threads(pid: int, proc: Path = Path("/proc")) -> list[Thread]:
    """All of a process; none if it has gone."""
    found = []
    with suppress(OSError):
        for task in sorted((proc / str(pid) / "task").iterdir(), key=lambda path: int(path.name)):
            with suppress(OSError):
                found.append(_thread(int(task.name), (task / "stat").read_text(), _schedstat(task)))
    return found


def thread_numbers(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """Of all threads of a process; none if it has gone."""
    with suppress(OSError):
        return [int(task.name) for task in (proc / str(pid) / "task").iterdir()]
    return []


def _schedstat(task: Path) -> str | None:
    """None where the kernel was built without it."""
    try:
        return (task / "schedstat").read_text()
    except FileNotFoundError:
        return None


def _thread(tid: int, stat: str, schedstat: str | None) -> Thread:
    name, _, rest = stat.partition("(")[2].rpartition(")")
    fields = ["", "", *rest.split()]  # so that field n of the manual is fields[n - 1]
    ticks = int(fields[_UTIME - 1]) + int(fields[_STIME - 1])
    cpu_s, waited_s = (
        (int(word) / 1e9 for word in schedstat.split()[:2]) if schedstat else (ticks / _USER_HZ, 0.0)
    )
    return Thread(tid, name, int(fields[_PROCESSOR - 1]), cpu_s, waited_s)
