# SPDX-License-Identifier: Apache-2.0
"""What the traffic saw of a live migration: looks at one run, cut where something happened. Pure arithmetic.

A loss is noticed when the next packet arrives, which may be much later, or never; so it belongs to the phase
in which its first packet was due. That is known from its size, because streams are sent at constant rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.base.si import MS_PER_S, NS_PER_MS, NS_PER_S
from weir.measure.tester import Stream
from weir.protocol.traffic_results import StreamInterval, TrafficInterval
from weir.results.migration import MigrationPhase, PhaseName, PhaseStream

SILENT_NS = 2e8
"""A stream of which nothing has come for so long has lost what is missing; of others it may be under way."""


@dataclass(frozen=True)
class Cut:
    """A phase begins."""

    phase: PhaseName
    at_ns: float
    """From the start of the run."""


@dataclass(frozen=True)
class Loss:
    """Packets of one stream that went missing at once."""

    began_ns: float
    packets: int
    to_the_end: bool = False
    """Nobody noticed it: after it nothing came."""


def phases(
    looks: Sequence[TrafficInterval], cuts: Sequence[Cut], streams: Sequence[Stream], rate_pps: float
) -> list[MigrationPhase]:
    """Each lasts from its cut to the next one, the last to the last look. All in order of time; the first cut
    is the start of the run. `rate_pps`: of each stream."""
    ends = [cut.at_ns for cut in cuts[1:]] + [math.inf]
    return [
        MigrationPhase(
            name=cut.phase,
            from_s=cut.at_ns / NS_PER_S,
            to_s=min(end_ns, max(looks[-1].now_ns, cut.at_ns)) / NS_PER_S,
            streams=[_stream(looks, stream, cut.at_ns, end_ns, rate_pps) for stream in streams],
        )
        for cut, end_ns in zip(cuts, ends, strict=True)
    ]


def losses(looks: Sequence[TrafficInterval], stream: int, rate_pps: float) -> Iterator[Loss]:
    """Of one stream. Those beyond what weir-dp kept between two looks are one, noticed at the later look."""
    for look in looks:
        one = _of(look, stream)
        for at_ns, packets in one.losses:
            yield Loss(at_ns - packets / rate_pps * NS_PER_S, packets)
        if one.losses_left_out_packets:
            yield Loss(look.now_ns, one.losses_left_out_packets)
    yield from _to_the_end(looks, stream, rate_pps)


def _to_the_end(looks: Sequence[TrafficInterval], stream: int, rate_pps: float) -> Iterator[Loss]:
    """What nobody noticed, since nothing came any more."""
    seen = [_of(look, stream) for look in looks]
    last = seen[-1]
    since_ns = next(
        look.now_ns for look, one in zip(looks, seen, strict=True) if one.delivered == last.delivered
    )
    noticed = sum(one.losses_left_out_packets + sum(packets for _, packets in one.losses) for one in seen)
    packets = last.offered - last.delivered - noticed
    if packets > 0 and looks[-1].now_ns - since_ns > SILENT_NS:
        yield Loss(looks[-1].now_ns - packets / rate_pps * NS_PER_S, packets, to_the_end=True)


def _stream(
    looks: Sequence[TrafficInterval], stream: Stream, from_ns: float, to_ns: float, rate_pps: float
) -> PhaseStream:
    first = _count(looks, stream.id, from_ns) if from_ns > 0 else (0, 0)
    last = _count(looks, stream.id, to_ns)
    here = [one for one in losses(looks, stream.id, rate_pps) if from_ns <= one.began_ns < to_ns]
    lost = [one.packets for one in here]
    delays_ns = [_of(look, stream.id).latency.max_ns for look in looks if from_ns < look.now_ns <= to_ns]
    return PhaseStream(
        stream=stream.id,
        direction=stream.direction,
        offered=last[0] - first[0],
        delivered=last[1] - first[1],
        missing=sum(lost),
        outage_ms=sum(lost) / rate_pps * MS_PER_S,
        longest_gap_ms=max(lost, default=0) / rate_pps * MS_PER_S,
        silent_to_the_end=any(one.to_the_end for one in here),
        max_delay_ms=max(delays_ns, default=0.0) / NS_PER_MS,
    )


def _count(looks: Sequence[TrafficInterval], stream: int, at_ns: float) -> tuple[int, int]:
    """Packets offered and delivered, by the first look from then on, or the last there is."""
    look = next((one for one in looks if one.now_ns >= at_ns), looks[-1])
    found = _of(look, stream)
    return found.offered, found.delivered


def _of(look: TrafficInterval, stream: int) -> StreamInterval:
    return next(one for one in look.streams if one.id == stream)
