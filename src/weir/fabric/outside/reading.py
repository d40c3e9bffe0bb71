# SPDX-License-Identifier: Apache-2.0
"""One look at everything outside weir-dp that counts time or packets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weir.fabric.openvswitch import appctl
from weir.fabric.outside.cpu_time import Backlog, CpuTime, backlogs, cpu_times
from weir.fabric.outside.polling import Polling, parse
from weir.fabric.outside.threads import Thread, threads
from weir.fabric.step_kind import Site

_PMD = ("dpif-netdev/pmd-stats-show", "dpif-netdev/pmd-perf-show", "dpif-netdev/pmd-rxq-show")
"""The first one counts time: it is asked nearest to the trial."""


@dataclass(frozen=True)
class Reading:
    """All counts are since boot, or since the thread began: only differences mean something."""

    at_s: float
    cpu: dict[int, CpuTime]
    backlogs: dict[int, Backlog]
    polling: dict[int | None, Polling]
    threads: dict[str, list[Thread]]
    """By process."""


def read(site: Site, processes: Mapping[str, int], *, openvswitch: bool, asks_first: bool) -> Reading:
    """`processes`: pid by name. FabricError if Open vSwitch does not answer.

    Asking it takes some of its main thread's time. `asks_first`: before times are read, so that this is not
    in what follows; else after, so that it is not in what was. Its threads are read right beside.
    """
    said = [appctl(site, command) for command in reversed(_PMD)][::-1] if openvswitch and asks_first else []
    found = {name: threads(pid) for name, pid in processes.items()} if asks_first else {}
    at_s = time.monotonic()
    cpu = cpu_times(Path("/proc/stat").read_text())
    received = backlogs(Path("/proc/net/softnet_stat").read_text())
    found = found or {name: threads(pid) for name, pid in processes.items()}
    if openvswitch and not asks_first:
        said = [appctl(site, command) for command in _PMD]
    return Reading(at_s, cpu, received, parse(*said) if said else {}, found)
