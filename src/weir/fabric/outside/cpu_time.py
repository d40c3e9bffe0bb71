# SPDX-License-Identifier: Apache-2.0
"""Time by core, and what the kernel's receive path did there: /proc/stat and /proc/net/softnet_stat.

Without CONFIG_IRQ_TIME_ACCOUNTING the kernel counts time by its clock ticks: a tick that comes while the
softirq runs is the softirq's. So a softirq's share of a short trial is an estimate from some hundred samples.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_USER_HZ = os.sysconf("SC_CLK_TCK")  # unit of /proc/stat, whatever the kernel's tick is


@dataclass(frozen=True)
class CpuTime:
    """Seconds since boot, of one core."""

    user_s: float
    system_s: float
    idle_s: float
    irq_s: float
    softirq_s: float
    steal_s: float


@dataclass(frozen=True)
class Backlog:
    """The receive softirq of one core since boot, in frames."""

    processed: int
    dropped: int
    squeezed: int


def cpu_times(stat: str, units_per_s: float = _USER_HZ) -> dict[int, CpuTime]:
    """By core, of /proc/stat's text (proc_stat(5)). Time of guests is in user."""
    found = {}
    for line in stat.splitlines():
        name, *words = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, idle, wait, irq, softirq, steal = (
                int(word) / units_per_s for word in words[:8]
            )
            found[int(name[3:])] = CpuTime(user + nice, system, idle + wait, irq, softirq, steal)
    return found


def backlogs(softnet_stat: str) -> dict[int, Backlog]:
    """By core, of /proc/net/softnet_stat's text: hexadecimal, the core in column 13, since Linux 5.10.

    Before that a line a core that is online, in order.
    """
    found = {}
    for number, line in enumerate(softnet_stat.splitlines()):
        words = [int(word, 16) for word in line.split()]
        core = words[12] if len(words) > 12 else number
        found[core] = Backlog(processed=words[0], dropped=words[1], squeezed=words[2])
    return found
