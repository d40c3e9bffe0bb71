# SPDX-License-Identifier: Apache-2.0
"""When other programs had a core on which something of the deployment works, and who they were.

Switches of a core from one thread to another come from the kernel: perf_event_open(2) with `context_switch`
on a dummy event. It costs nothing while nobody switches, and needs no tracing file system.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from weir.base.si import NS_PER_S
from weir.fabric import markers
from weir.fabric.host.quota import quota_cpus, throttled_s
from weir.fabric.host.tree import Tree
from weir.fabric.outside.whole_time import ran_s, whose
from weir.results.slices import ENDED, ITSELF, QUOTA

_SYSCALL = 298  # x86-64
_TYPE_SOFTWARE, _CONFIG_DUMMY = 1, 9
_ATTRIBUTES_BYTES = 128
_SAMPLE_TID, _SAMPLE_TIME, _SAMPLE_CPU = 1 << 1, 1 << 2, 1 << 7
_DISABLED, _SAMPLE_ID_ALL, _USE_CLOCKID, _CONTEXT_SWITCH = 1 << 0, 1 << 18, 1 << 25, 1 << 26
_CLOCKID_AT = 92
_CLOEXEC = 8
_ENABLE, _DISABLE = 0x2400, 0x2401
_DATA_PAGES = 256
"""A megabyte: 21,000 switches of a core in one trial."""
_HEAD_AT, _TAIL_AT = 1024, 1032
_RECORD_LOST, _RECORD_SWITCH_CPU_WIDE = 2, 15
_MISC_SWITCH_OUT, _MISC_PREEMPTED = 1 << 13, 1 << 14

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Switch:
    """At `raw_ns` (CLOCK_MONOTONIC_RAW) the core went from one thread to another; 0: nobody."""

    raw_ns: int
    from_tid: int
    to_tid: int
    preempted: bool = False
    """The one that lost it would have gone on."""


class CoreSwitches:
    """Of one core. OSError if the kernel does not allow it."""

    def __init__(self, core: int) -> None:
        self.core = core
        self._fd = _open(core)
        try:
            self._ring = mmap.mmap(self._fd, (1 + _DATA_PAGES) * mmap.PAGESIZE)
        except OSError:
            os.close(self._fd)
            raise

    def begin(self) -> None:
        """Forgets what was, and looks from now on."""
        struct.pack_into("Q", self._ring, _TAIL_AT, self._head())
        _libc.ioctl(self._fd, _ENABLE, 0)

    def end(self) -> tuple[list[Switch], bool]:
        """Who had the core since, from one switch to the next; and whether some switches were lost."""
        _libc.ioctl(self._fd, _DISABLE, 0)
        records = list(self._records())
        lost = any(kind == _RECORD_LOST for kind, _, _ in records)
        switches: list[Switch] = []
        for kind, misc, body in records:
            if kind != _RECORD_SWITCH_CPU_WIDE:
                continue
            _, other, _, tid, raw_ns = struct.unpack_from("IIIIQ", body)
            out = misc & _MISC_SWITCH_OUT
            from_tid, to_tid = (tid, other) if out else (other, tid)
            switches.append(Switch(raw_ns, from_tid, to_tid, bool(misc & _MISC_PREEMPTED)))
        return switches, lost

    def close(self) -> None:
        """Gives everything back."""
        self._ring.close()
        os.close(self._fd)

    def _head(self) -> int:
        head: int = struct.unpack_from("Q", self._ring, _HEAD_AT)[0]
        return head

    def _records(self) -> Iterator[tuple[int, int, bytes]]:
        """Kind, flags and body of each."""
        size = _DATA_PAGES * mmap.PAGESIZE
        tail: int = struct.unpack_from("Q", self._ring, _TAIL_AT)[0]
        head = self._head()
        if head == tail:
            return
        data = self._ring[mmap.PAGESIZE :]
        ring = (data + data)[tail % size : tail % size + (head - tail)]
        at = 0
        while at < len(ring):
            kind, misc, length = struct.unpack_from("IHH", ring, at)
            yield kind, misc, ring[at + 8 : at + length]
            at += length
        struct.pack_into("Q", self._ring, _TAIL_AT, head)


def _open(core: int) -> int:
    attributes = bytearray(_ATTRIBUTES_BYTES)
    sample = _SAMPLE_TID | _SAMPLE_TIME | _SAMPLE_CPU
    flags = _DISABLED | _SAMPLE_ID_ALL | _USE_CLOCKID | _CONTEXT_SWITCH
    struct.pack_into(
        "IIQQQQQ", attributes, 0, _TYPE_SOFTWARE, _ATTRIBUTES_BYTES, _CONFIG_DUMMY, 0, sample, 0, flags
    )
    struct.pack_into("i", attributes, _CLOCKID_AT, time.CLOCK_MONOTONIC_RAW)
    fd: int = _libc.syscall(_SYSCALL, bytes(attributes), -1, core, -1, _CLOEXEC)
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return fd


_NOBODY, _QUOTA = 0, -1
_EXPLAINS = 0.5
"""A quota that held threads back for so much of others' time is why they had it."""
_PARENT_AT, _FLAGS_AT, _NICE_AT = 1, 6, 16
"""Places in /proc/TID/stat behind the name, proc(5)."""
_OF_THE_KERNEL = 0x200000  # PF_KTHREAD


@dataclass(frozen=True)
class Taken:
    """Somebody else's time on a core, by CLOCK_MONOTONIC_RAW."""

    core: int
    from_raw_ns: int
    to_raw_ns: int
    by: str
    """Name of the program, whose it is and how nice, with its thread's number; or which part of another
    deployment it is."""
    takes_part: bool = False
    """A thread of the system under test that is no polling loop of ours: the kernel's for packets, a
    switch's. It takes a loop's core as part of its own work."""


class TakenWatch:
    """Looks at some cores. `ours`: the threads that take part now, by number; `loops`: of these, those of
    weir-dp. `ended_take_part`: the system under test may start threads of its own, and nobody knows whose
    those were that have ended. `held_back_s`: for how long a quota has held this process's group back.
    `is_limited`: whether a thread's control group, or one around it, has a quota."""

    def __init__(
        self,
        cores: Collection[int],
        ours: Callable[[], Collection[int]],
        loops: Callable[[], Collection[int]] = frozenset,
        opened: Callable[[int], CoreSwitches] = CoreSwitches,
        proc: Path = Path("/proc"),
        *,
        ended_take_part: bool = False,
        held_back_s: Callable[[], float] | None = None,
        is_limited: Callable[[int], bool] | None = None,
    ) -> None:
        self._wanted = sorted(cores)
        self._opened = opened
        self._ours = ours
        self._loops = loops
        self._proc = proc
        self._ended_take_part = ended_take_part
        self._held_back_s = held_back_s or partial(throttled_s, Tree())
        self._held_back_before_s = 0.0
        self._is_limited = is_limited or (lambda tid: quota_cpus(Tree(), tid) is not None)
        self._before: frozenset[int] = frozenset()
        self._began_ns = 0
        self._ran_s: dict[int, float] = {}
        self._known: dict[int, str] = {}
        self._owners: dict[int, str] = {}
        self._own: dict[int, bool] = {}
        self._marks: dict[int, str | None] = {}
        self._cores: list[CoreSwitches] = []
        self.refused: str | None = None
        """Why the kernel does not tell; known from the first trial on."""

    def begin(self) -> None:
        """Just before a trial."""
        if not self._cores and self.refused is None:
            self._open()
        self._before = frozenset(self._ours())
        self._ran_s = ran_s(self._loops(), self._proc)
        self._held_back_before_s = self._held_back_s()
        self._began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for core in self._cores:
            core.begin()

    def end(self) -> list[Taken]:
        """Just after it: all but polling loops' time, and what a quota kept from them."""
        ours, loops = self._before | frozenset(self._ours()), frozenset(self._loops())
        limited = [tid for tid in loops if self._is_limited(tid)]
        found: list[Taken] = []
        ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for core in self._cores:
            switches, lost = core.end()
            if lost:  # what was between is not known: nobody's time is believed
                continue
            found += [
                Taken(
                    core.core,
                    from_ns,
                    to_ns,
                    self._said(tid, of_others=tid not in ours),
                    tid in ours or self._takes_part(core.core, tid),
                )
                for from_ns, to_ns, tid in self._spans(core.core, held_back(switches, limited), ended_ns)
                if tid != _NOBODY and tid not in loops
            ]
        return found if not self._spent(found) else [_of_quota(one) for one in found]

    def _spent(self, found: Sequence[Taken]) -> bool:
        """Whether others had the cores since the group's quota was spent: the kernel's switches do not tell
        that from their own turn, its count of the time does."""
        others_s = sum(one.to_raw_ns - one.from_raw_ns for one in found if not one.takes_part) / NS_PER_S
        held_back_s = self._held_back_s() - self._held_back_before_s
        return held_back_s > 0 and held_back_s >= _EXPLAINS * others_s

    def _spans(self, core: int, switches: Sequence[Switch], ended_ns: int) -> Iterator[tuple[int, int, int]]:
        if switches:
            yield from spans(switches, self._began_ns, ended_ns)
        elif (tid := whose(core, self._ran_s, self._proc)) is not None:
            yield self._began_ns, ended_ns, tid

    def close(self) -> None:
        """Gives everything back."""
        while self._cores:
            self._cores.pop().close()

    def _open(self) -> None:
        try:
            for core in self._wanted:
                self._cores.append(self._opened(core))
        except OSError as error:
            self.close()
            self.refused = f"perf_event_open: {error.strerror}"

    def _takes_part(self, core: int, tid: int) -> bool:
        """Threads of the kernel that carry packets; and who came and went, where that may be a child of the
        system under test: what that does itself is never forgiven."""
        name = self._name(tid)
        carries = name == f"ksoftirqd/{core}" or name.startswith("vhost-")
        return carries or (self._ended_take_part and name == ENDED)

    def _said(self, tid: int, *, of_others: bool) -> str:
        """For people: the step of another deployment that started it, or the program with its number."""
        if tid == _QUOTA:
            return QUOTA
        if of_others and tid not in self._marks:
            self._marks[tid] = markers.mark_of(tid, self._proc)
        mark = self._marks.get(tid)
        if mark is None:
            name = ITSELF if self._is_own(tid) else f"{self._name(tid)}{self._owner(tid)}"
            return f"{name} ({tid})"
        deployment, _, step = mark.partition("/")
        return f"{step} of {deployment}"

    def _is_own(self, tid: int) -> bool:
        """A thread of this process, or a child that it has just started and that still has its name."""
        if tid not in self._own:  # a trial may have twenty thousand times of a few
            own = os.getpid()
            self._own[tid] = tid == own or (self._proc / str(own) / "task" / str(tid)).exists()
            with suppress(OSError, IndexError, ValueError):
                stat = (self._proc / str(tid) / "stat").read_text().rsplit(")", 1)[1].split()
                if int(stat[_PARENT_AT]) == own and self._name(tid) == self._name(own):
                    self._own[tid] = True
        return self._own[tid]

    def _name(self, tid: int) -> str:
        if tid not in self._known:
            self._known[tid] = ENDED
            with suppress(OSError):
                self._known[tid] = (self._proc / str(tid) / "comm").read_text().strip()
        return self._known[tid]

    def _owner(self, tid: int) -> str:
        """ " (nice 19) of root", " of alice"; nothing of the kernel's threads, and of those that ended."""
        if tid not in self._owners:
            self._owners[tid] = ""
            place = self._proc / str(tid)
            with suppress(OSError, IndexError, ValueError):
                stat = (place / "stat").read_text().rsplit(")", 1)[1].split()
                if not int(stat[_FLAGS_AT]) & _OF_THE_KERNEL:
                    nice = int(stat[_NICE_AT])
                    niced = f" (nice {nice})" if nice else ""
                    self._owners[tid] = f"{niced} of {_user(place)}"
        return self._owners[tid]


def _user(place: Path) -> str:
    try:
        return place.owner()
    except KeyError:
        return f"user {place.stat().st_uid}"


def _of_quota(one: Taken) -> Taken:
    return one if one.takes_part else replace(one, by=QUOTA)


def held_back(switches: Sequence[Switch], loops: Collection[int]) -> list[Switch]:
    """The same, with nobody's time as the quota's from where a loop lost the core that it still wanted until
    it has it again: the kernel leaves a core to nobody then when the loop's group has used up its quota
    (sched-bwc). `loops`: those of groups that have one; others may have gone to another core."""
    found: list[Switch] = []
    spent = False
    for one in switches:
        if one.preempted and one.from_tid in loops:
            spent = True
        elif one.to_tid in loops:
            spent = False
        found.append(replace(one, to_tid=_QUOTA) if spent and one.to_tid == _NOBODY else one)
    return found


def spans(switches: Sequence[Switch], from_ns: int, to_ns: int) -> Iterator[tuple[int, int, int]]:
    """From, to and whose, over all of the time: between one switch and the next, before and behind them."""
    tids = [one.from_tid for one in switches[:1]] + [one.to_tid for one in switches]
    times = [from_ns, *(one.raw_ns for one in switches), to_ns]
    for tid, begin, end in zip(tids, times, times[1:], strict=False):
        if end > begin:
            yield begin, end, tid
