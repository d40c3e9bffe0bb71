# SPDX-License-Identifier: Apache-2.0
"""When other programs had a core on which something of the deployment works, and who they were."""

from __future__ import annotations

import os
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
from weir.fabric.outside.switches import CoreSwitches, Switch, spans
from weir.fabric.outside.whole_time import ran_s, whose
from weir.results.slices import ENDED, ITSELF, QUOTA

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


@dataclass(frozen=True)
class Unrecorded:
    """A time in which nobody knows who had a core: more switches were made than are kept. By
    CLOCK_MONOTONIC_RAW."""

    core: int
    from_raw_ns: int
    to_raw_ns: int


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
        self.unrecorded: list[Unrecorded] = []
        """Between the last `begin` and `end`."""

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

    def filling(self) -> list[int]:
        """Descriptors: one that can be read says that it is time to `drain`."""
        return [core.fileno() for core in self._cores]

    def drain(self) -> None:
        """While a trial goes on that is long: the kernel keeps no more than some ten thousand switches."""
        for core in self._cores:
            core.drain()

    def end(self) -> list[Taken]:
        """Just after it: all but polling loops' time, and what a quota kept from them."""
        ours, loops = self._before | frozenset(self._ours()), frozenset(self._loops())
        limited = [tid for tid in loops if self._is_limited(tid)]
        found: list[Taken] = []
        self.unrecorded = []
        ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for core in self._cores:
            switches, told_to_ns = core.end()
            to_ns = ended_ns
            if told_to_ns is not None:  # what comes then is not known: nobody's time is believed
                to_ns = told_to_ns
                self.unrecorded.append(Unrecorded(core.core, max(self._began_ns, to_ns), ended_ns))
            whose_it_was: dict[int, tuple[str, bool]] = {}  # a soak has a hundred thousand times of a few
            for from_ns, until_ns, tid in self._spans(core.core, held_back(switches, limited), to_ns):
                if tid == _NOBODY or tid in loops:
                    continue
                if tid not in whose_it_was:
                    takes_part = tid in ours or self._takes_part(core.core, tid)
                    whose_it_was[tid] = self._said(tid, of_others=tid not in ours), takes_part
                found.append(Taken(core.core, from_ns, until_ns, *whose_it_was[tid]))
        return found if not self._spent(found) else [_of_quota(one) for one in found]

    def _spent(self, found: Sequence[Taken]) -> bool:
        """Whether others had the cores since the group's quota was spent: the kernel's switches do not tell
        that from their own turn, its count of the time does."""
        others_s = sum(one.to_raw_ns - one.from_raw_ns for one in found if not one.takes_part) / NS_PER_S
        held_back_s = self._held_back_s() - self._held_back_before_s
        return held_back_s > 0 and held_back_s >= _EXPLAINS * others_s

    def _spans(self, core: int, switches: Sequence[Switch], ended_ns: int) -> Iterator[tuple[int, int, int]]:
        if switches or ended_ns <= self._began_ns:
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
    if not loops:
        return list(switches)
    found: list[Switch] = []
    spent = False
    for one in switches:
        if one.preempted and one.from_tid in loops:
            spent = True
        elif one.to_tid in loops:
            spent = False
        found.append(one._replace(to_tid=_QUOTA) if spent and one.to_tid == _NOBODY else one)
    return found
