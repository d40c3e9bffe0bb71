# SPDX-License-Identifier: Apache-2.0
"""What of a trial counts: the time in which every core on the packets' way was there for them.

A trial is looked at in slices of the time in which its packets were due. An *absence* is a time in which
somebody else had a core: the host, another program, or, where a core works slower than at its best, whoever
works on the other thread of its physical core. What the system under test does itself (a function's long
poll, a switch's other threads) is no absence and is never forgiven.

- *Left out* is a slice whose packets were due during an absence, or would have left the system then, and the
  slice behind it.
- *Recovering* are the slices behind an absence until the packets' delay is again what it is without. The
  queues that grew meanwhile empty, and what is lost then need not be the load's fault. So here a balance
  counts: a system that carries the load sends out at least as much as comes in. Of L packets a second, with
  delays that went from w0 to w1, lost + L (w1 - w0) packets were not carried; below 0, all were. No more can
  have left the queues than arrived: of what is lost before them a shorter delay tells nothing. A delay is
  without the absences in it: what is left is the time that the system needed for what was queued.
- *Clean* are all others. There each lost packet counts, and growth of the delay is a backlog: overload that
  a trial is too short to lose packets by (docs/design/method.md).
"""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weir.base.si import NS_PER_US, US_PER_MS, US_PER_S
from weir.measure.absences import Absence
from weir.measure.overload import LOSSY_SHARE, in_pauses, queued_share
from weir.protocol.traffic_results import Slices, StreamSlices

Floats = NDArray[np.float64]
CALM_TIMES, CALM_US = 1.25, 20.0
"""Delays are as without an absence up to so much more than at their lower quartile."""
GROWTH_SHARE, GROWTH_LEAST_US = 0.0025, 200.0
"""Of the time that counts: so much growth of the delay is an overload of a quarter of a percent."""
POINTS_MAX = 100
"""Of a stretch, between which slopes are looked at."""
CLEAN_SHARE = 0.25
"""Of the recovering slices; with so many clean ones, those alone tell which share is lost."""


@dataclass
class _Part:
    """Slices of one stream that are judged alike."""

    slices: int = 0
    due: int = 0
    offered: int = 0
    delivered: int = 0
    delays_us: dict[int, Sequence[float | None]] = field(default_factory=dict)
    """In each stretch without a break, by its first slice."""
    _arrived: list[int] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return self.offered - self.delivered

    def arrived_of_the_last(self, slices: float) -> float:
        """Packets that were sent in these and arrived, of one that is half among them half."""
        first = len(self._arrived) - slices
        begun = math.ceil(first)
        part = (begun - first) * self._arrived[begun - 1] if begun > 0 else 0.0
        return part + sum(self._arrived[begun:])

    def add(
        self, stretch: Sequence[int], stream: StreamSlices, all_delays_us: Sequence[float | None]
    ) -> None:
        """A stretch of neighbouring slices."""
        if not stretch:
            return
        self.slices += len(stretch)
        for slice_ in stretch:
            self.due += stream.due[slice_]
            self.offered += stream.offered[slice_]
            self.delivered += stream.delivered[slice_]
            self._arrived.append(stream.delivered[slice_])
        self.delays_us[stretch[0]] = [all_delays_us[at] for at in stretch]


@dataclass(frozen=True)
class _Judged:
    """Of one stream."""

    offered: int
    lost: int
    backlog: float

    @property
    def missing(self) -> int:
        """Lost, or left in a queue."""
        return min(self.offered, self.lost + round(self.backlog))


@dataclass(frozen=True)
class Evidence:
    """What of a trial counts, of all streams together."""

    seconds: float
    """Clean and recovering."""
    recovering_s: float
    offered: int
    short: int
    """Due and not sent, in clean slices."""
    short_recovering: int
    """Likewise in recovering ones: the tester was still behind."""
    lost: int
    """Without the backlog."""
    backlog: int
    in_pauses: bool
    """Each stream that lost packets lost them in pauses (`weir.measure.overload`)."""
    left_out: tuple[Absence, ...]
    streams: Mapping[int, tuple[int, int]]
    """Of each by its number: packets, and those of them that were lost or left in a queue."""


def evidence(slices: Slices, away: Sequence[Absence], least_growth_ms: float) -> Evidence:
    """What counts of a run with these absences. `least_growth_ms`: of the delay, that is a backlog; 0: none
    is looked for."""
    width_us = slices.width_us
    count = len(slices.streams[0].due) if slices.streams else 0
    spans = _union(away)
    left = _left_out(slices, spans, count)
    offered = short = short_recovering = lost = recovering_slices = 0
    backlog = 0.0
    paused: list[bool] = []
    streams: dict[int, tuple[int, int]] = {}
    for stream in slices.streams:
        delays_us = _own_delays_us(stream, spans, width_us)
        clean, recovering = _parts(stream, left, delays_us)
        judged = _judged(clean, recovering, width_us / US_PER_S, least_growth_ms * US_PER_MS)
        offered += judged.offered
        lost += judged.lost
        streams[stream.id] = judged.offered, judged.missing
        if judged.lost > 0:
            paused.append(_in_pauses(stream, left, delays_us))
        backlog += min(judged.backlog, judged.offered - judged.lost)
        short += clean.due - clean.offered
        short_recovering += recovering.due - recovering.offered
        recovering_slices = max(recovering_slices, recovering.slices)
    return Evidence(
        seconds=left.count(False) * width_us / US_PER_S,
        recovering_s=recovering_slices * width_us / US_PER_S,
        offered=offered,
        short=short,
        short_recovering=short_recovering,
        lost=lost,
        backlog=round(backlog),
        in_pauses=bool(paused) and all(paused),
        left_out=tuple(away),
        streams=streams,
    )


def _union(away: Sequence[Absence]) -> list[tuple[float, float]]:
    """Times in which any core was away, in order."""
    spans: list[tuple[float, float]] = []
    for one in sorted(away, key=lambda one: one.from_us):
        if spans and one.from_us <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], one.to_us))
        else:
            spans.append((one.from_us, one.to_us))
    return spans


def _left_out(slices: Slices, spans: Sequence[tuple[float, float]], count: int) -> list[bool]:
    """By slice. Packets leave in the order in which they came."""
    width_us = slices.width_us
    left = [False] * count
    leaves_us = [at * width_us + delay for at, delay in enumerate(_longest_us(slices, count))]
    for from_us, to_us in spans:
        for at in range(int(max(0.0, from_us) // width_us), min(count, int(to_us // width_us) + 2)):
            left[at] = True
        first = bisect.bisect_left(leaves_us, from_us - width_us)
        for at in range(first, min(count, bisect.bisect_right(leaves_us, to_us + width_us))):
            left[at] = True
    return left


def _longest_us(slices: Slices, count: int) -> Iterator[float]:
    """Delay in each slice, of the stream with the longest. Who came later does not leave earlier: where what
    was lost leaves no trace, it is that of the slice before, less a slice."""
    width_us, known = slices.width_us, 0.0
    for at in range(count):
        seen = [stream.delay_ns[at] / NS_PER_US for stream in slices.streams if stream.delivered[at]]
        known = max(known - width_us, max(seen, default=known))
        yield known


def _own_delays_us(
    stream: StreamSlices, spans: Sequence[tuple[float, float]], width_us: float
) -> list[float | None]:
    """Delays from when packets were sent, without the absences in them; None where nothing arrived. How late
    the tester was is no doing of the system under test."""
    found: list[float | None] = []
    at = 0
    for slice_, delivered in enumerate(stream.delivered):
        if not delivered:
            found.append(None)
            continue
        sent_us = (slice_ + 0.5) * width_us + stream.late_ns[slice_] / NS_PER_US
        delay_us = stream.transit_us(slice_)
        while at < len(spans) and spans[at][1] <= sent_us:
            at += 1
        inside = 0.0
        for from_us, to_us in spans[at:]:
            if from_us >= sent_us + delay_us:
                break
            inside += max(0.0, min(to_us, sent_us + delay_us) - max(from_us, sent_us))
        found.append(max(0.0, delay_us - inside))
    return found


def _parts(
    stream: StreamSlices, left: Sequence[bool], delays_us: Sequence[float | None]
) -> tuple[_Part, _Part]:
    """Clean and recovering."""
    clean, recovering = _Part(), _Part()
    calm_us = _calm_us(left, delays_us)
    for stretch in _stretches(left):
        at = 0
        if stretch[0] > 0:
            while at < len(stretch) and not _is_calm(delays_us[stretch[at]], calm_us):
                at += 1
            recovering.add(stretch[:at], stream, delays_us)
        clean.add(stretch[at:], stream, delays_us)
    return clean, recovering


def _in_pauses(stream: StreamSlices, left: Sequence[bool], delays_us: Sequence[float | None]) -> bool:
    kept = [at for at, out in enumerate(left) if not out]
    calm_us = _calm_us(left, delays_us)
    return in_pauses(
        [stream.offered[at] - stream.delivered[at] for at in kept],
        [_is_calm(delays_us[at], calm_us) for at in kept],
    )


def _calm_us(left: Sequence[bool], delays_us: Sequence[float | None]) -> float:
    kept_us = [delay for delay, out in zip(delays_us, left, strict=True) if delay is not None and not out]
    return CALM_TIMES * _lower_quartile(kept_us) + CALM_US


def _is_calm(delay_us: float | None, calm_us: float) -> bool:
    return delay_us is not None and delay_us <= calm_us


def _stretches(left: Sequence[bool]) -> Iterator[list[int]]:
    """Neighbouring slices that are not left out."""
    stretch: list[int] = []
    for at, out in enumerate(left):
        if not out:
            stretch.append(at)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _judged(clean: _Part, recovering: _Part, slice_s: float, least_growth_us: float) -> _Judged:
    seconds = (clean.slices + recovering.slices) * slice_s
    packets_a_us = (clean.offered + recovering.offered) / seconds / US_PER_S if seconds else 0.0
    grown = sum(map(_growth_us, recovering.delays_us.values())) * packets_a_us
    # Queues empty into the receiver: where almost all is lost before them, a delay that falls tells nothing.
    balance = recovering.lost + max(grown, -recovering.delivered)
    judged = [clean] if balance <= 0 else [clean, recovering]
    if balance <= 0:
        # All was carried. Which share is lost without queues that empty is known of the clean ones.
        alone = clean.slices >= CLEAN_SHARE * recovering.slices
        offered, lost = clean.offered + (0 if alone else recovering.offered), clean.lost
    else:
        offered = clean.offered + recovering.offered
        lost = clean.lost + min(recovering.lost, math.ceil(balance))
    backlog = 0.0
    for part in judged:
        stretches = list(part.delays_us.values())
        grown_us = _grown_us(stretches, least_growth_us, lossy=part.lost > 0, seconds=seconds)
        share = queued_share(grown_us, part.slices * slice_s * US_PER_S)
        backlog += part.arrived_of_the_last(share * part.slices)
    return _Judged(offered, max(0, lost), backlog)


def _grown_us(
    stretches: Sequence[Sequence[float | None]], least_us: float, *, lossy: bool, seconds: float
) -> float:
    """Growth of the delay that is a backlog: in a short trial less of it is the same overload. Each stretch
    adds its own uncertainty."""
    if not least_us:
        return 0.0
    growth_us = _lasting_us(stretches)
    shortest_us = min(least_us, max(GROWTH_LEAST_US, GROWTH_SHARE * seconds * US_PER_S))
    limit_us = least_us * LOSSY_SHARE if lossy else shortest_us
    return growth_us if growth_us > limit_us * math.sqrt(max(1, len(stretches))) else 0.0


def _lasting_us(stretches: Sequence[Sequence[float | None]]) -> float:
    """Growth at the median slope between any two slices of a stretch (Theil and Sen's): an overload grows all
    the time, and a pause, whose queue empties again, changes few slopes."""
    slopes: list[Floats] = []
    length = 0
    for stretch in stretches:
        seen = [(at, delay) for at, delay in enumerate(stretch) if delay is not None]
        length += len(stretch)
        if len(seen) > 1:
            at, delays_us = _points(np.array(seen))
            one, other = np.triu_indices(len(at), 1)
            slopes.append((delays_us[other] - delays_us[one]) / (at[other] - at[one]))
    return float(np.median(np.concatenate(slopes))) * length if slopes else 0.0


def _points(seen: Floats) -> tuple[Floats, Floats]:
    """Slices and delays, no more than so many, neighbours together: the slopes are of each with each."""
    some = -(-len(seen) // POINTS_MAX)
    starts = np.arange(0, len(seen), some)
    sums = np.add.reduceat(seen, starts) / np.diff([*starts, len(seen)])[:, None]
    return sums[:, 0], sums[:, 1]


def _growth_us(seen_us: Sequence[float | None]) -> float:
    """From begin to end, by the medians of both thirds: a single slice decides nothing."""
    delays_us = [delay for delay in seen_us if delay is not None]
    if len(delays_us) < 2:
        return 0.0
    third = max(1, len(delays_us) // 3)
    rise = statistics.median(delays_us[-third:]) - statistics.median(delays_us[:third])
    return rise * (len(delays_us) - 1) / (len(delays_us) - third)


def _lower_quartile(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 4] if values else 0.0
