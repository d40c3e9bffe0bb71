# SPDX-License-Identifier: Apache-2.0
"""One interval of a soak: the difference of two looks at a run, and the events in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from weir.base.si import NS_PER_S, NS_PER_US, US_PER_S
from weir.lab.execution import TESTER_KINDS
from weir.measure.accounting import Counts
from weir.measure.delay_figures import Buckets
from weir.measure.tester import Stream, Taken
from weir.procedures.soak.delays import Delays, between
from weir.protocol.ledger import Ledger
from weir.protocol.traffic_results import Gap, StallCount, StreamInterval, TrafficInterval
from weir.results.soak import (
    CoreTaken,
    PoolFigures,
    ProcessFigures,
    SoakEvent,
    SoakInterval,
    SoakStream,
    TableFigure,
)
from weir.results.trial import Drop, Stall

EVENT_US = 1000.0
"""Shorter stalls are counted, but are no events: a virtual machine has thousands of them an hour."""
EVENTS_MAX = 50
TAKERS_MAX = 8
TAKER_SHARE = 0.5
"""Of a gap: who had the core for less of it need not be its cause."""
BEHIND_STALL_S = 0.010  # a backlog's losses show a little after the loop goes on
NOTICED_S = 0.001


@dataclass(frozen=True)
class Snapshot:
    """Everything up to one moment of a run."""

    wall_s: float
    """Time of day when `traffic` was read, in s since 1970, by the segment's clock."""
    traffic: TrafficInterval
    latency: Mapping[int, Buckets]
    """By stream, of the whole run, as `ipdv`."""
    ipdv: Mapping[int, Buckets]
    counts: Counts
    """Drops by place and reason since boot."""
    kinds: Mapping[str, str]
    """Of areas, by name."""
    processes: Sequence[ProcessFigures] = ()
    pools: Sequence[PoolFigures] = ()
    tables: Sequence[TableFigure] = ()
    look_ms: float = 0.0
    taken: Sequence[Taken] = ()
    """Who had the cores since the look before; told a moment after `traffic`."""


def pools_of(ledger: Ledger) -> list[PoolFigures]:
    """Of a ledger."""
    return [PoolFigures(name=pool.name, size=pool.size, free=pool.free) for pool in ledger.pools]


def interval(
    before: Snapshot | None,
    after: Snapshot,
    streams: Sequence[Stream],
    *,
    number: int,
    segment: int,
    began_s: float,
    start_wall_s: float,
    drops_before: Mapping[tuple[str, str], int],
) -> tuple[SoakInterval, dict[int, Delays]]:
    """The record, and each stream's delays in a form that can be added up.

    `before`: None for the first of a run. `began_s`: its wall clock then; `start_wall_s`: the soak's.
    `drops_before`: `after.counts` at the beginning.
    """
    was = {one.id: one for one in before.traffic.streams} if before else {}
    delays = {
        one.id: between(
            was.get(one.id),
            one,
            ((before.latency if before else {}).get(one.id, {}), after.latency[one.id]),
            ((before.ipdv if before else {}).get(one.id, {}), after.ipdv.get(one.id, {})),
        )
        for one in after.traffic.streams
    }
    ends = {stream.id: stream for stream in streams}
    records = [
        delays[one.id].into(_counts(was.get(one.id), one, ends[one.id]), coarse=True)
        for one in after.traffic.streams
    ]
    drops = [*_drops(drops_before, after), *_tester_drops(was, after, ends)]
    came = {one.stream for one in records if one.lost <= 0 and one.reordered > 0}
    events = sorted(
        [*_losses(after, ends, drops, start_wall_s, came), *_stalls(before, after, start_wall_s)],
        key=_importance,
    )
    return (
        SoakInterval(
            number=number,
            segment=segment,
            at=rfc3339(after.wall_s),
            from_s=began_s - start_wall_s,
            to_s=after.wall_s - start_wall_s,
            streams=records,
            drops=drops,
            stalls=_stall_counts(before, after),
            taken=_taken(after.taken),
            events=sorted(events[:EVENTS_MAX], key=lambda event: event.offset_s),
            events_left_out=max(0, len(events) - EVENTS_MAX),
            processes=list(after.processes),
            pools=list(after.pools),
            tables=list(after.tables),
            look_ms=after.look_ms,
        ),
        delays,
    )


def rfc3339(wall_s: float) -> str:
    """UTC, to the millisecond."""
    return datetime.fromtimestamp(wall_s, UTC).isoformat(timespec="milliseconds")


def _counts(was: StreamInterval | None, now: StreamInterval, stream: Stream) -> SoakStream:
    def grown(name: str) -> int:
        return int(getattr(now, name) - (getattr(was, name) if was else 0))

    return SoakStream(
        stream=now.id,
        direction=stream.direction,
        offered=grown("offered"),
        refused=grown("tx_refused"),
        delivered=grown("delivered"),
        lost=_lost(now) - (_lost(was) if was else 0),
        duplicates=grown("duplicates"),
        reordered=grown("reordered"),
    )


def _lost(so_far: StreamInterval) -> int:
    """Behind what arrived; where nothing ever did, all that was sent: no sequence number tells it."""
    return so_far.missing if so_far.delivered else so_far.offered


def _drops(before: Mapping[tuple[str, str], int], after: Snapshot) -> Iterator[Drop]:
    for (place, reason), packets in sorted(after.counts.items()):
        more = packets - before.get((place, reason), 0)
        if more > 0:
            yield Drop(place=place, reason=reason, packets=more)


def _tester_drops(
    was: Mapping[int, StreamInterval], after: Snapshot, ends: Mapping[int, Stream]
) -> Iterator[Drop]:
    for one in after.traffic.streams:
        earlier = was.get(one.id)
        refused = one.tx_refused - (earlier.tx_refused if earlier else 0)
        late = one.too_late - (earlier.too_late if earlier else 0)
        if refused > 0:
            yield Drop(place=ends[one.id].port, reason="tx_queue_full", packets=refused)
        if late > 0:
            yield Drop(place=ends[one.id].to, reason="too_late", packets=late)


def _losses(
    after: Snapshot, ends: Mapping[int, Stream], drops: list[Drop], start_wall_s: float, came: Collection[int]
) -> Iterator[SoakEvent]:
    """`came`: streams of which all came, though some out of order."""
    gaps = [
        (gap.ended_us / US_PER_S - gap.us / US_PER_S, gap.ended_us / US_PER_S) for gap in after.traffic.gaps
    ]
    for one in after.traffic.streams:
        for at_ns, packets in one.losses:
            at_s = at_ns / NS_PER_S
            wall_s = after.wall_s - (after.traffic.now_ns - at_ns) / NS_PER_S
            stalled = any(began - NOTICED_S <= at_s <= ended + BEHIND_STALL_S for began, ended in gaps)
            yield SoakEvent(
                kind="loss",
                at=rfc3339(wall_s),
                offset_s=wall_s - start_wall_s,
                stream=one.id,
                direction=ends[one.id].direction,
                packets=packets,
                out_of_order=one.id in came,
                counters=[] if one.id in came else drops,
                during_stall=stalled,
            )


def _stalls(before: Snapshot | None, after: Snapshot, start_wall_s: float) -> Iterator[SoakEvent]:
    taken = [*(before.taken if before else ()), *after.taken]
    for gap in after.traffic.gaps:
        if gap.us >= EVENT_US:
            wall_s = after.wall_s - (after.traffic.now_ns / NS_PER_S - gap.ended_us / US_PER_S)
            yield SoakEvent(
                kind="stall",
                at=rfc3339(wall_s),
                offset_s=wall_s - start_wall_s,
                core=gap.core,
                us=gap.us,
                by=_by(gap, after),
                area=gap.area,
                taker=_taker(gap, after.traffic, taken),
            )


def _by(gap: Gap, after: Snapshot) -> Literal["host", "function", "tester", "loop"]:
    if gap.host_us > 0:
        return "host"
    if gap.area is None:
        return "loop"
    return "tester" if after.kinds.get(gap.area) in TESTER_KINDS else "function"


def _taker(gap: Gap, read: TrafficInterval, taken: Sequence[Taken]) -> str | None:
    """Who had its core for most of the gap."""
    to_ns = read.now_raw_ns - (read.now_ns - gap.ended_us * NS_PER_US)
    from_ns = to_ns - gap.us * NS_PER_US
    had: Counter[str] = Counter()
    for one in taken:
        if one.core == gap.core and not one.takes_part:
            had[one.by] += max(0, round(min(one.to_raw_ns, to_ns) - max(one.from_raw_ns, from_ns)))
    by, ns = next(iter(had.most_common(1)), ("", 0))
    return by if ns > TAKER_SHARE * gap.us * NS_PER_US else None


def _taken(taken: Sequence[Taken]) -> list[CoreTaken]:
    had: Counter[tuple[int, str]] = Counter()
    for one in taken:
        if not one.takes_part:
            had[one.core, one.by] += one.to_raw_ns - one.from_raw_ns
    return [
        CoreTaken(core=core, by=by, us=round(ns / NS_PER_US, 1))
        for (core, by), ns in had.most_common(TAKERS_MAX)
    ]


def _importance(event: SoakEvent) -> tuple[int, float]:
    """Losses first, the largest of each kind first, and last what only came out of order."""
    if event.kind == "loss":
        return 2 * event.out_of_order, -(event.packets or 0)
    return 1, -(event.us or 0.0)


def _stall_counts(before: Snapshot | None, after: Snapshot) -> list[Stall]:
    was = {one.core: one for one in before.traffic.stalls} if before else {}
    longest: dict[int, float] = {}
    for gap in after.traffic.gaps:
        longest[gap.core] = max(longest.get(gap.core, 0.0), gap.us)
    found = [_stall(was.get(one.core), one, longest.get(one.core, 0.0)) for one in after.traffic.stalls]
    return [stall for stall in found if stall.count]


def _stall(was: StallCount | None, now: StallCount, longest_us: float) -> Stall:
    return Stall(
        core=now.core,
        count=now.count - (was.count if was else 0),
        total_us=now.total_us - (was.total_us if was else 0.0),
        longest_us=longest_us,
        host_count=now.host_count - (was.host_count if was else 0),
        host_us=now.host_us - (was.host_us if was else 0.0),
    )
