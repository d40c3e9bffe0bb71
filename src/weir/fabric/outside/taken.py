# SPDX-License-Identifier: Apache-2.0
"""When other programs had a core on which something of the deployment works, and who they were."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from weir.fabric.outside.perf_ring import CoreSwitches, Switch

_NOBODY = 0


@dataclass(frozen=True)
class Taken:
    """Somebody else's time on a core, by CLOCK_MONOTONIC_RAW."""

    core: int
    from_raw_ns: int
    to_raw_ns: int
    by: str
    """Name of the program, with its thread's number."""
    takes_part: bool = False
    """A thread of the system under test that is no polling loop of ours: the kernel's for packets, a
    switch's. It takes a loop's core as part of its own work."""


class TakenWatch:
    """Looks at some cores. `ours`: the threads that take part now, by number; `loops`: of these, those of
    weir-dp."""

    def __init__(
        self,
        cores: Collection[int],
        ours: Callable[[], Collection[int]],
        loops: Callable[[], Collection[int]] = frozenset,
        opened: Callable[[int], CoreSwitches] = CoreSwitches,
        proc: Path = Path("/proc"),
    ) -> None:
        self._wanted = sorted(cores)
        self._opened = opened
        self._ours = ours
        self._loops = loops
        self._proc = proc
        self._before: frozenset[int] = frozenset()
        self._began_ns = 0
        self._known: dict[int, str] = {}
        self._cores: list[CoreSwitches] = []
        self.refused: str | None = None
        """Why the kernel does not tell; known from the first trial on."""

    def begin(self) -> None:
        """Just before a trial."""
        if not self._cores and self.refused is None:
            self._open()
        self._before = frozenset(self._ours())
        self._began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for core in self._cores:
            core.begin()

    def end(self) -> list[Taken]:
        """Just after it: all but polling loops' time."""
        ours, loops = self._before | frozenset(self._ours()), frozenset(self._loops())
        found: list[Taken] = []
        ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for core in self._cores:
            switches, lost = core.end()
            if lost:  # what was between is not known: nobody's time is believed
                switches = []
            found += [
                Taken(
                    core.core,
                    from_ns,
                    to_ns,
                    f"{self._name(tid)} ({tid})",
                    tid in ours or self._carries_packets(core.core, tid),
                )
                for from_ns, to_ns, tid in spans(switches, self._began_ns, ended_ns)
                if tid != _NOBODY and tid not in loops
            ]
        return found

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

    def _carries_packets(self, core: int, tid: int) -> bool:
        """Threads of the kernel that carry packets."""
        name = self._name(tid)
        return name == f"ksoftirqd/{core}" or name.startswith("vhost-")

    def _name(self, tid: int) -> str:
        if tid not in self._known:
            self._known[tid] = "ended program"
            with suppress(OSError):
                self._known[tid] = (self._proc / str(tid) / "comm").read_text().strip()
        return self._known[tid]


def spans(switches: Sequence[Switch], from_ns: int, to_ns: int) -> Iterator[tuple[int, int, int]]:
    """From, to and whose, over all of the time: between one switch and the next, before and behind them."""
    whose = [one.from_tid for one in switches[:1]] + [one.to_tid for one in switches]
    times = [from_ns, *(one.raw_ns for one in switches), to_ns]
    for tid, begin, end in zip(whose, times, times[1:], strict=False):
        if end > begin:
            yield begin, end, tid
