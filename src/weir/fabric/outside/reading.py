# SPDX-License-Identifier: Apache-2.0
"""One look at everything outside weir-dp that counts time or packets.

Time by core (/proc/stat), the kernel's receive path (/proc/net/softnet_stat), threads
(/proc/PID/task/TID/schedstat and stat), and the threads of Open vSwitch's userspace datapath
(ovs-vswitchd(8), dpif-netdev).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from weir.base.si import NS_PER_S
from weir.fabric.openvswitch import appctl
from weir.fabric.site import Site

_USER_HZ = os.sysconf("SC_CLK_TCK")  # unit of /proc/stat and of threads, whatever the kernel's tick is


@dataclass(frozen=True)
class CpuTime:
    """Seconds since boot, of one core.

    Without CONFIG_IRQ_TIME_ACCOUNTING the kernel counts time by its clock ticks: a tick that comes while the
    softirq runs is the softirq's. So a softirq's share of a short trial is an estimate from some hundred
    samples.
    """

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
                found.append(thread(task, (task / "stat").read_text()))
    return found


def thread_numbers(pid: int) -> list[int]:
    """Of all threads of a process; none if it has gone."""
    with suppress(OSError):
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def threads_of(pids: Iterable[int]) -> set[int]:
    """Numbers of the threads that these processes have now."""
    return {tid for pid in pids for tid in thread_numbers(pid)}


def _schedstat(task: Path) -> str | None:
    """None where the kernel was built without it."""
    try:
        return (task / "schedstat").read_text()
    except FileNotFoundError:
        return None


def thread(task: Path, stat: str) -> Thread:
    """Of its directory in /proc, and what `stat` there says. OSError if it has gone."""
    name, _, rest = stat.partition("(")[2].rpartition(")")
    schedstat = _schedstat(task)
    fields = ["", "", *rest.split()]  # so that field n of the manual is fields[n - 1]
    ticks = int(fields[_UTIME - 1]) + int(fields[_STIME - 1])
    cpu_s, waited_s = (
        (int(word) / NS_PER_S for word in schedstat.split()[:2]) if schedstat else (ticks / _USER_HZ, 0.0)
    )
    return Thread(int(task.name), name, int(fields[_PROCESSOR - 1]), cpu_s, waited_s)


MAIN = None
"""The core of the main thread: it polls nothing, and has none of its own."""

_THREAD = re.compile(r"^(?:pmd thread numa_id \d+ core_id (\d+)|main thread):$", re.M)
_RATIO = re.compile(r"^\s*([a-z /]+): (\d+)", re.M)
_ROW = re.compile(r"^\s*-? ?([A-Z][A-Za-z ]+):\s+(\d+)", re.M)
_PORT = re.compile(r"^\s*port: (\S+)\s+queue-id:\s*\d+ \(enabled\)", re.M)


@dataclass(frozen=True)
class Polling:
    """One thread. Cycles are of the time-stamp counter; 0 where it does not count them.

    Cycles are from `pmd-stats-show`, which prints them whole; rounds and batches from `pmd-perf-show`; ports
    from `pmd-rxq-show`. All count since the thread began, or since somebody cleared them.
    """

    packets: int
    busy_cycles: int
    idle_cycles: int
    upcalls: int
    upcalls_lost: int
    polls: int = 0
    batches: int = 0
    sent: int = 0
    """Handed to ports, which may have found no room."""
    ports: tuple[str, ...] = ()
    """Those that it polls."""


def parse(stats: str, perf: str, rxq: str) -> dict[int | None, Polling]:
    """By core; the main thread under MAIN. The texts of pmd-stats-show, pmd-perf-show, pmd-rxq-show."""
    more, ports = _sections(perf), _sections(rxq)
    found = {}
    for core, text in _sections(stats).items():
        rows = {name.strip(): int(value) for name, value in _RATIO.findall(text)}
        counted = {name.strip(): int(value) for name, value in _ROW.findall(more.get(core, ""))}
        lost = rows.get("miss with failed upcall", 0)
        found[core] = Polling(
            packets=rows.get("packets received", 0),
            busy_cycles=rows.get("processing cycles", 0),
            idle_cycles=rows.get("idle cycles", 0),
            upcalls=rows.get("miss with success upcall", 0) + lost,
            upcalls_lost=lost,
            polls=counted.get("Iterations", 0),
            batches=counted.get("Tx batches", 0),
            sent=counted.get("Tx packets", 0),
            ports=tuple(dict.fromkeys(_PORT.findall(ports.get(core, "")))),
        )
    return found


def _sections(text: str) -> dict[int | None, str]:
    _, *rest = _THREAD.split(text)
    return {int(core) if core else MAIN: body for core, body in zip(rest[::2], rest[1::2], strict=True)}


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


def read(site: Site | None, processes: Mapping[str, Sequence[int]], *, asks_first: bool) -> Reading:
    """`processes`: pids by name. `site`: whose Open vSwitch is asked; None: none is. FabricError if it does
    not answer.

    Asking it takes some of its main thread's time. `asks_first`: before times are read, so that this is not
    in what follows; else after, so that it is not in what was. Its threads are read right beside.
    """
    said = [appctl(site, command) for command in reversed(_PMD)][::-1] if site and asks_first else []
    found = _threads_of(processes) if asks_first else {}
    at_s = time.monotonic()
    cpu = cpu_times(Path("/proc/stat").read_text())
    received = backlogs(Path("/proc/net/softnet_stat").read_text())
    found = found or _threads_of(processes)
    if site and not asks_first:
        said = [appctl(site, command) for command in _PMD]
    return Reading(at_s, cpu, received, parse(*said) if said else {}, found)


def _threads_of(processes: Mapping[str, Sequence[int]]) -> dict[str, list[Thread]]:
    return {name: [thread for pid in pids for thread in threads(pid)] for name, pids in processes.items()}
