# SPDX-License-Identifier: Apache-2.0
"""Which process that is: its number alone may be another's by now."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Started:
    """A process, and no later one of the same number."""

    pid: int
    start_ticks: int  # since boot: starttime of proc_pid_stat(5)

    @classmethod
    def of(cls, pid: int) -> Started | None:
        """None if it is gone."""
        with suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            return cls(pid, int(stat[19]))
        return None

    @staticmethod
    def now_ticks() -> int:
        """What a process that starts at this moment has as its `start_ticks`."""
        return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def boot_id() -> str:
    """Of this boot of this machine, as the kernel tells it; empty where it does not."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
