# SPDX-License-Identifier: Apache-2.0
"""A soak while it is measured: segments, intervals, and what they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weir.lab.sla import Sla
from weir.measure.accounting import Counts
from weir.measure.tester import Stream
from weir.procedures.soak.delays import Prefixes
from weir.procedures.soak.drift import drifts
from weir.procedures.soak.events import rfc3339
from weir.procedures.soak.intervals import Snapshot, interval
from weir.procedures.soak.limits import broken, verdicts
from weir.procedures.soak.schedule import Steps
from weir.results.result import Verdict
from weir.results.soak import Drift, PoolFigures, Soak, SoakInterval, SoakSegment
from weir.results.trial import Trial

MEMORY_DRIFT_MAX = 0.01
"""Growth of a process that is too much."""
KEPT_A_PORT = 64
"""Buffers of sent packets by which what a driver's queue keeps varies: two bursts."""
TX_QUEUE_FULL = "tx_queue_full"
RECORDING = "weir"
"""The process that looks: no part of the system under test."""
DRIFT_SECONDS_MIN = 600.0
"""Shorter soaks show start-up, not drift."""


@dataclass
class _Sums:
    """Of the intervals of one segment."""

    seconds: float = 0.0
    to_s: float | None = None
    offered: Counter[str] = field(default_factory=Counter)
    """By direction, as `delivered`."""
    delivered: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    def add(self, one: SoakInterval) -> None:
        self.seconds += one.to_s - one.from_s
        self.to_s = one.to_s
        for stream in one.streams:
            self.offered[stream.direction] += stream.offered
            self.delivered[stream.direction] += stream.delivered
            self.lost += stream.lost


class Recorder:
    """Keeps `soak` true after each step; store it then.

    Intervals that are stored may be taken out of it, since there are thousands: only `judge` needs them back.
    """

    def __init__(self, soak: Soak, streams: Sequence[Stream]) -> None:
        """`soak` may have intervals and segments already: then it goes on."""
        self.soak = soak
        self._streams = streams
        self._prefixes = Prefixes.resumed(soak.prefixes, soak.intervals)
        self._steps = Steps(soak)
        self._finished = 0
        self._sums: dict[int, _Sums] = {}
        for one in soak.intervals:
            self._count(one)
        self._start_wall_s = _seconds(soak.started_at)
        self._last: Snapshot | None = None
        self._counts: Counts = {}
        self._began_s = 0.0

    def begin(
        self,
        wall_s: float,
        counts: Counts,
        pools: list[PoolFigures],
        *,
        deployment: str | None = None,
        differs: Sequence[str] = (),
    ) -> SoakSegment:
        """A segment whose load starts now. `counts`: drops by then. One that is open was killed."""
        for earlier in self.soak.segments:
            if earlier.ended == "open":
                earlier.ended = "killed"
                end_s = self._sums.get(earlier.number, _Sums()).to_s
                earlier.to_s = earlier.from_s if end_s is None else end_s
        if not self.soak.segments:  # what came before its first load is no part of it
            self._start_wall_s, self.soak.started_at = wall_s, rfc3339(wall_s)
        # The clock may have been set back since the segment before: time goes on.
        ends = [one.to_s for one in self.soak.segments if one.to_s is not None]
        self._start_wall_s = min(self._start_wall_s, wall_s - max(ends, default=0.0))
        segment = SoakSegment(
            number=len(self.soak.segments) + 1,
            started_at=rfc3339(wall_s),
            from_s=wall_s - self._start_wall_s,
            pools_before=pools,
            deployment=deployment,
            differs=list(differs),
        )
        self.soak.segments.append(segment)
        self._last, self._counts, self._began_s = None, counts, wall_s
        return segment

    def add(self, seen: Snapshot) -> SoakInterval:
        """The interval that ends with this look."""
        record, delays = interval(
            self._last,
            seen,
            self._streams,
            number=self._finished + 1,
            segment=self.soak.segments[-1].number,
            began_s=self._began_s,
            start_wall_s=self._start_wall_s,
            drops_before=self._counts,
        )
        self._last, self._counts, self._began_s = seen, seen.counts, seen.wall_s
        record.step = self._steps.at(self.soak.measured_s + (record.to_s - record.from_s) / 2)
        self._steps.add(record, delays)
        self.soak.intervals.append(record)
        self._count(record)
        self._prefixes.add(record, delays)
        self.soak.prefixes = self._prefixes.so_far()
        self._sum_up()
        return record

    def end(
        self,
        trial: Trial,
        pools: list[PoolFigures],
        wall_s: float,
        *,
        queues: Mapping[str, int],
        warmed: int,
        complete: bool,
    ) -> None:
        """The load has ended, and its last packets are counted. `queues`: for sending, of weir-dp's ports by
        name, in packets. `warmed`: packets that each of them had sent before the segment, at least."""
        segment = self.soak.segments[-1]
        segment.to_s = wall_s - self._start_wall_s
        segment.ended = "complete" if complete else "interrupted"
        segment.trial = trial
        segment.pools_after = pools
        segment.buffers_lost = buffers_lost(segment.pools_before, pools)
        segment.buffers_kept_most = kept_most(queues, trial, warmed)
        self._sum_up()

    def fail(self, why: str) -> None:
        """The segment cannot go on."""
        segment = self.soak.segments[-1]
        segment.ended, segment.why = "failed", why
        self._sum_up()

    def judge(self, sla: Sla | None) -> list[Verdict]:
        """Drifts, faults, and the service level; once nothing comes any more, and all intervals are there."""
        soak = self.soak
        soak.drifts = drifts(soak.intervals, one_load=not soak.schedule)
        soak.broken = broken(sla, soak, soak.intervals) if sla else []
        soak.faults = [*_faults(soak, self._sums), *(_too_much(one) for one in soak.drifts if _grows(one))]
        return verdicts(sla, soak) if sla else []

    def _count(self, one: SoakInterval) -> None:
        self._finished += 1
        self._sums.setdefault(one.segment, _Sums()).add(one)

    def _sum_up(self) -> None:
        soak = self.soak
        trials = {one.number: one.trial for one in soak.segments if one.trial is not None}
        left_open = [sums for number, sums in self._sums.items() if number not in trials]
        # The last interval is read a moment after the load ended.
        soak.measured_s = min(soak.duration_s, sum(one.seconds for one in self._sums.values()))
        soak.offered = sum(trial.offered for trial in trials.values())
        soak.offered += sum(one.offered.total() for one in left_open)
        soak.delivered = sum(trial.delivered for trial in trials.values())
        soak.delivered += sum(one.delivered.total() for one in left_open)
        soak.lost = sum(trial.offered - trial.delivered for trial in trials.values())
        soak.lost += sum(one.lost for one in left_open)
        soak.unaccounted = sum(trial.unaccounted for trial in trials.values()) if trials else None
        lost = [one.buffers_lost for one in soak.segments if one.buffers_lost is not None]
        soak.buffers_lost = max(lost) if lost else None


def kept_most(queues: Mapping[str, int], trial: Trial, warmed: int) -> int:
    """Buffers that drivers may keep. One whose queue was full frees what was sent when the next packets need
    its places: that may be all of it. A place that had none before, since only `warmed` packets were sent,
    keeps one from then on."""
    full = {one.place for one in trial.drops if one.reason == TX_QUEUE_FULL}
    return sum(
        size if port in full else min(size, KEPT_A_PORT + max(0, size - warmed))
        for port, size in queues.items()
    )


def buffers_lost(before: Sequence[PoolFigures], after: Sequence[PoolFigures]) -> int:
    """Buffers that were in their pools before and are not after, of pools that were there then."""
    free = {pool.name: pool.free for pool in after}
    return sum(max(0, pool.free - free[pool.name]) for pool in before if pool.name in free)


def _faults(soak: Soak, sums: Mapping[int, _Sums]) -> Iterator[str]:
    """Of its segments. `sums`: of their intervals."""
    for segment in soak.segments:
        where = f"Segment {segment.number}: " if len(soak.segments) > 1 else ""
        if segment.ended == "failed":
            yield f"{where}{segment.why}"
        for sentence in _silent(segment, sums.get(segment.number, _Sums())):
            yield f"{where}{sentence}"
        if segment.trial is not None:
            yield from (f"{where}{sentence}" for sentence in segment.trial.invalid_because)
        if (segment.buffers_lost or 0) > segment.buffers_kept_most:
            yield (
                f"{where}{segment.buffers_lost} packet buffers did not come back to their pools; queues may"
                f" keep {segment.buffers_kept_most}."
            )


def _silent(segment: SoakSegment, sums: _Sums) -> Iterator[str]:
    """The directions of which nothing arrived: by its ledger or, while it is open, by its intervals."""
    offered, delivered = sums.offered, sums.delivered
    if segment.trial is not None:
        offered, delivered = Counter(), Counter()
        for stream in segment.trial.streams:
            offered[stream.direction] += stream.offered
            delivered[stream.direction] += stream.delivered
    silent = [direction for direction in offered if offered[direction] and not delivered[direction]]
    if silent and len(silent) == len(offered):
        yield f"Nothing arrived: all {offered.total():,} packets were lost."
        return
    for direction in silent:
        yield f"Nothing arrived {direction}: all {offered[direction]:,} packets were lost."


def _grows(drift: Drift) -> bool:
    """More memory than allowed, even by the lower end of the interval."""
    return (
        drift.what == "resident memory"
        and drift.subject != RECORDING
        and drift.seconds >= DRIFT_SECONDS_MIN
        and (drift.share_low or 0.0) > MEMORY_DRIFT_MAX
    )


def _too_much(drift: Drift) -> str:
    return (
        f"{drift.subject} grew by {drift.share or 0.0:.1%} in {drift.seconds / 60:.0f} min"
        f" ({drift.change:.0f} KiB; at most {MEMORY_DRIFT_MAX:.0%} is allowed)."
    )


def _seconds(rfc3339_text: str) -> float:
    return datetime.fromisoformat(rfc3339_text).timestamp()
