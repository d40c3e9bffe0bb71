# SPDX-License-Identifier: Apache-2.0
"""One interval of a soak: the difference of two looks at a run, and the events in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.base.si import NS_PER_US
from weir.fabric.outside.taken import Unrecorded
from weir.measure.accounting import Counts
from weir.measure.delay_figures import Buckets
from weir.measure.tester import Stream, Taken
from weir.procedures.soak.delays import Delays, between
from weir.procedures.soak.events import Clock, Takers, losses, rfc3339, stalls
from weir.procedures.soak.section_listed import is_lost, is_stall, left_out, listed
from weir.protocol.ledger import Ledger
from weir.protocol.traffic_results import StallCount, StreamInterval, TrafficInterval
from weir.results.soak import (
    CoreTaken,
    CoreUnrecorded,
    PoolFigures,
    ProcessFigures,
    SoakInterval,
    SoakStream,
    TableFigure,
)
from weir.results.trial import HELD, Drop, Stall

EVENTS_MAX = 50
TAKERS_MAX = 8
"""Of each core: of all cores together, one that many small programs have would hide another."""
OTHERS = "other programs"


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
    unrecorded: Sequence[Unrecorded] = ()
    """Of that time, what nobody knows of."""


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
    clock = Clock(after.traffic, after.wall_s, start_wall_s)
    # Who had the cores is read a moment after the traffic: what the read before had may be of this one's.
    takers = Takers(
        after.traffic,
        [*(before.taken if before else ()), *after.taken],
        [*(before.unrecorded if before else ()), *after.unrecorded],
    )
    happened = [
        *losses(after.traffic, clock, ends, drops, came),
        *stalls(after.traffic, clock, after.kinds, takers),
    ]
    events = listed(happened, EVENTS_MAX)
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
            some_taken_us=round(_together_ns(after.taken) / NS_PER_US, 1),
            unrecorded=_unrecorded(after.unrecorded),
            events=events,
            events_left_out=len(happened) - len(events),
            losses_left_out=left_out(happened, events, is_lost),
            stalls_left_out=left_out(happened, events, is_stall),
            losses_unseen=any(one.losses_left_out_packets for one in after.traffic.streams),
            stalls_unseen=after.traffic.gaps_left_out > 0,
            processes=list(after.processes),
            pools=list(after.pools),
            tables=list(after.tables),
            look_ms=after.look_ms,
        ),
        delays,
    )


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
        if more > 0 and reason != HELD:
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


def _taken(taken: Sequence[Taken]) -> list[CoreTaken]:
    had: Counter[tuple[int, str]] = Counter()
    for one in taken:
        if not one.takes_part:
            had[one.core, one.by] += one.to_raw_ns - one.from_raw_ns
    kept: list[CoreTaken] = []
    for core in sorted({core for core, _ in had}):
        most = Counter({by: ns for (of, by), ns in had.items() if of == core}).most_common()
        named, others = most[:TAKERS_MAX], most[TAKERS_MAX:]
        if others:
            named.append((OTHERS, sum(ns for _, ns in others)))
        kept += [CoreTaken(core=core, by=by, us=round(ns / NS_PER_US, 1)) for by, ns in named]
    return sorted(kept, key=lambda one: -one.us)


def _together_ns(taken: Sequence[Taken]) -> int:
    """In which one core or another was taken."""
    had_ns, until = 0, 0
    for one in sorted(taken, key=lambda one: one.from_raw_ns):
        if not one.takes_part and one.to_raw_ns > until:
            had_ns += one.to_raw_ns - max(one.from_raw_ns, until)
            until = one.to_raw_ns
    return had_ns


def _unrecorded(spans: Sequence[Unrecorded]) -> list[CoreUnrecorded]:
    return [
        CoreUnrecorded(core=one.core, us=round((one.to_raw_ns - one.from_raw_ns) / NS_PER_US, 1))
        for one in spans
    ]


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
