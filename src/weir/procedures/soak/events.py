# SPDX-License-Identifier: Apache-2.0
"""What happened at some moment of an interval: packets went missing, or a loop stood still.

An interval on a busy machine has thousands of stalls and tens of thousands of times in which others had a
core: each is looked for by its time, since reading must not take as long as the interval.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from weir.base.si import NS_PER_S, NS_PER_US, US_PER_S
from weir.fabric.outside.taken import Unrecorded
from weir.lab.execution import TESTER_KINDS
from weir.measure.tester import Stream, Taken
from weir.protocol.traffic_results import Gap, TrafficInterval
from weir.results.soak import SoakEvent
from weir.results.trial import Drop

EVENT_US = 1000.0
"""Shorter stalls are counted, but are no events: a virtual machine has thousands of them an hour."""
TAKER_SHARE = 0.5
"""Of a gap: who had the core for less of it need not be its cause."""
SEVERAL = "several programs"
NOT_RECORDED = "who had it was not recorded"
BEHIND_STALL_S = 0.010  # a backlog's losses show a little after the loop goes on
NOTICED_S = 0.001


def rfc3339(wall_s: float) -> str:
    """UTC, to the millisecond."""
    return datetime.fromtimestamp(wall_s, UTC).isoformat(timespec="milliseconds")


class Clock:
    """Times of a run as times of day and of a soak."""

    def __init__(self, read: TrafficInterval, wall_s: float, start_wall_s: float) -> None:
        """`wall_s`: when `read` was read; `start_wall_s`: when the soak began; in s since 1970."""
        self._began_wall_s = wall_s - read.now_ns / NS_PER_S
        self._start_wall_s = start_wall_s

    def at(self, run_s: float) -> tuple[str, float]:
        """RFC 3339, and s since the soak began."""
        wall_s = self._began_wall_s + run_s
        return rfc3339(wall_s), wall_s - self._start_wall_s


class Takers:
    """Who had a core when. Times of a core follow each other: it has one thread at a time."""

    def __init__(
        self, read: TrafficInterval, taken: Iterable[Taken], unrecorded: Sequence[Unrecorded] = ()
    ) -> None:
        """`read`: by its two clocks times of the run are those of the other two."""
        self._offset_ns = read.now_raw_ns - read.now_ns
        self._unrecorded = unrecorded
        self._of: dict[int, list[Taken]] = {}
        for one in taken:
            if not one.takes_part:
                self._of.setdefault(one.core, []).append(one)
        for some in self._of.values():
            some.sort(key=lambda one: one.from_raw_ns)
        self._ends = {core: [one.to_raw_ns for one in some] for core, some in self._of.items()}

    def of(self, gap: Gap) -> str | None:
        """Who had its core for most of the gap; SEVERAL, if only together; NOT_RECORDED;
        None: no program."""
        to_ns = gap.ended_us * NS_PER_US + self._offset_ns
        from_ns = to_ns - gap.us * NS_PER_US
        had: Counter[str] = Counter()
        spans = self._of.get(gap.core, [])
        for at in range(bisect_right(self._ends.get(gap.core, []), from_ns), len(spans)):
            one = spans[at]
            if one.from_raw_ns >= to_ns:
                break
            had[one.by] += max(0, round(min(one.to_raw_ns, to_ns) - max(one.from_raw_ns, from_ns)))
        enough_ns = TAKER_SHARE * gap.us * NS_PER_US
        by, ns = next(iter(had.most_common(1)), ("", 0))
        if ns > enough_ns:
            return by
        if had.total() > enough_ns:
            return SEVERAL
        unknown = any(
            one.core == gap.core and one.from_raw_ns < to_ns and one.to_raw_ns > from_ns
            for one in self._unrecorded
        )
        return NOT_RECORDED if unknown else None


class _Stalled:
    """Whether a loss was noticed in a stall, or just behind one."""

    def __init__(self, gaps: Iterable[Gap]) -> None:
        spans = sorted(
            ((gap.ended_us - gap.us) / US_PER_S - NOTICED_S, gap.ended_us / US_PER_S + BEHIND_STALL_S)
            for gap in gaps
        )
        self._began_s: list[float] = []
        self._ended_s: list[float] = []
        for began_s, ended_s in spans:
            if self._ended_s and began_s <= self._ended_s[-1]:
                self._ended_s[-1] = max(self._ended_s[-1], ended_s)
            else:
                self._began_s.append(began_s)
                self._ended_s.append(ended_s)

    def at(self, run_s: float) -> bool:
        found = bisect_left(self._ended_s, run_s)
        return found < len(self._ended_s) and self._began_s[found] <= run_s


def losses(
    read: TrafficInterval, clock: Clock, ends: Mapping[int, Stream], drops: list[Drop], came: Collection[int]
) -> Iterator[SoakEvent]:
    """`came`: streams of which all came, though some out of order."""
    stalled = _Stalled(read.gaps)
    for one in read.streams:
        for at_ns, packets in one.losses:
            at, offset_s = clock.at(at_ns / NS_PER_S)
            yield SoakEvent(
                kind="loss",
                at=at,
                offset_s=offset_s,
                stream=one.id,
                direction=ends[one.id].direction,
                packets=packets,
                out_of_order=one.id in came,
                counters=[] if one.id in came else drops,
                during_stall=stalled.at(at_ns / NS_PER_S),
            )


def stalls(
    read: TrafficInterval, clock: Clock, kinds: Mapping[str, str], takers: Takers
) -> Iterator[SoakEvent]:
    """`kinds`: of areas, by name."""
    for gap in read.gaps:
        if gap.us >= EVENT_US:
            at, offset_s = clock.at(gap.ended_us / US_PER_S)
            yield SoakEvent(
                kind="stall",
                at=at,
                offset_s=offset_s,
                core=gap.core,
                us=gap.us,
                by=_by(gap, kinds),
                area=gap.area,
                taker=takers.of(gap),
            )


def _by(gap: Gap, kinds: Mapping[str, str]) -> Literal["host", "function", "tester", "loop"]:
    if gap.host_us > 0:
        return "host"
    if gap.area is None:
        return "loop"
    return "tester" if kinds.get(gap.area) in TESTER_KINDS else "function"
