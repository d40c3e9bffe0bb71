# SPDX-License-Identifier: Apache-2.0
"""What of a trial counted, how it went slice by slice of its time, and who had the cores that were away."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from weir.base.record import Record

DISTURBED_SHARE = 0.5
"""Of the time of trials: with more left out, since others had a core, what rests on them is disturbed."""
HOST, SLOWED = "host", "slowed"
"""Had a core, as trials record it, without being a program here."""
ENDED = "ended program"
"""One that nobody knows any more."""
QUOTA = "the CPU quota of a control group"
"""Nobody: it was spent, and the kernel held back whose it is."""
ITSELF = "weir itself"
"""The process that orders the trial."""
SLOWED_HOW = "slowed by a neighbour or a lower clock"
_THREAD = re.compile(r" \((\d+)\)$")


class LeftOut(Record):
    """A time in which a core was not there for the packets, from the start of the trial."""

    core: int
    from_us: float
    to_us: float
    by: str
    """Who had it: "host", a program with how nice it is (unless 0), its user and its thread's number, as
    "python (nice 19) of alice (4711)", or "slowed"."""


class Counted(Record):
    """What of the trial counts: the time in which all cores were there for the packets."""

    seconds: float
    recovering_s: float = 0.0
    """Of these, behind a time that was left out, until delays were again what they are without."""
    offered: int
    """Packets that were due and sent in that time."""
    lost: int
    """Of these; in the time of recovering those alone that the load is to blame for."""
    short: int | None = None
    """Packets that were due in that time and not sent: the tester was too slow for the load. Absent in
    older results."""
    backlog: int = 0
    """More of these still queued at its end than at its beginning, by the growth of delays."""

    in_pauses: bool = False
    """Packets were lost in a few milliseconds, while queues were empty in most: in pauses of the system under
    test or of the machine, and not for lack of capacity."""

    @property
    def loss_ratio(self) -> float:
        """Share that was lost or left in a queue."""
        return min(1.0, (self.lost + self.backlog) / self.offered) if self.offered else 0.0


class TrialSlices(Record):
    """Packets of all streams by the slice of time in which they were due."""

    width_us: float
    offered: list[int]
    lost: list[tuple[int, int]] = []
    """Number of a slice, and packets of it; only where some were."""
    delay_us: list[float]
    """Mean, from when they were due; 0 where none arrived."""


@dataclass
class Had:
    """What one program had, of one core or of all."""

    us: float = 0.0
    threads: set[str] = field(default_factory=set)
    """Their numbers."""

    def add(self, other: Had) -> None:
        """Of another core or trial."""
        self.us += other.us
        self.threads |= other.threads


@lru_cache(4096)
def program(by: str) -> str:
    """Who had a core, without its thread's number."""
    return _THREAD.sub("", by)


def takers(left_out: Iterable[LeftOut], until_us: float) -> dict[tuple[int, str], Had]:
    """Who had which core, of the time from 0 to `until_us`: by core and program; threads of the same name
    are one."""
    had_us: defaultdict[tuple[int, str], float] = defaultdict(float)
    for one in left_out:
        us = min(one.to_us, until_us) - max(one.from_us, 0.0)
        if us > 0:
            had_us[one.core, one.by] += us
    found: defaultdict[tuple[int, str], Had] = defaultdict(Had)
    for (core, by), us in had_us.items():
        found[core, program(by)].add(Had(us, set(_THREAD.findall(by))))
    return dict(found)


def named(program: str, threads: Collection[str]) -> str:
    """ "the host", "python (4711)", "603 threads called python"."""
    if len(threads) > 1 and program == ENDED:
        return f"{len(threads):,} programs that have ended"
    if len(threads) > 1:
        return f"{len(threads):,} threads called {program}"
    return {HOST: "the host"}.get(program, program) + "".join(f" ({thread})" for thread in threads)
