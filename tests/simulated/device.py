# SPDX-License-Identifier: Apache-2.0
"""A simulated device: how many packets of a trial it drops, and how long the others wait.

Its response, without stalls and background loss, to a load L (packets a second):

- up to `capacity_pps` (C) everything is forwarded;
- above it, F(L) = C + (S - C) (1 - exp(-(L - C) / (S - C))), S being `saturation_pps`; the rest is dropped
  at once. So loss begins softly at C, as it does where bursts meet a queue that is almost always busy. With
  S = C the knee is sharp: what comes above C waits in the buffer, and is dropped when that is full.

`truth_pps(goal)` is the conditional throughput of that response in the long run: L (1 - loss(L)) at the
highest L whose loss ratio is not above the goal. For zero loss it is C.

What disturbs it, all from one seeded generator:

- *noise*: C and S of each trial vary by a normal factor;
- *background loss*: rare events that lose a few packets at any load;
- *stalls*: the host takes the core away. Packets that arrive meanwhile wait in a buffer of `buffer_packets`,
  and what does not fit is dropped; the backlog drains at S - F(L). Rates and lengths are those seen on a
  virtual machine (`HOST_STALLS`). The hundreds of gaps a second between 10 and 50 us fit into any such
  buffer: the time that they take is part of S, so only longer ones are simulated singly.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from random import Random

from weir.base.si import US_PER_S

SAMPLES = 20  # of the waiting time, in a trial
SLICE_S = 0.001
SLICES_MAX = 4096


@dataclass(frozen=True)
class StallKind:
    """Stalls of one kind: Poisson in time, exponential in length above `shortest_us`, cut at `longest_us`."""

    per_second: float
    shortest_us: float
    mean_us: float
    longest_us: float
    own: bool = False
    """The device's own doing: no host takes anything away."""


# 5 to 8 a second over 50 us, up to 1 ms; now and then some milliseconds.
HOST_STALLS = (StallKind(6.5, 50, 120, 1000), StallKind(0.02, 1000, 2000, 5000))


@dataclass(frozen=True)
class Response:
    """The device and what disturbs it. Fields: see the module."""

    capacity_pps: float
    saturation_pps: float
    buffer_packets: int = 4096
    noise: float = 0.0  # standard deviation of the factor
    background_per_second: float = 0.0
    background_packets: int = 5
    stalls: tuple[StallKind, ...] = ()

    def forwarded_pps(self, load_pps: float) -> float:
        """F(L)."""
        over, room = load_pps - self.capacity_pps, self.saturation_pps - self.capacity_pps
        if over <= 0:
            return load_pps
        return self.capacity_pps + (room * -math.expm1(-over / room) if room > 0 else 0.0)

    def truth_pps(self, goal_loss_ratio: float) -> float:
        """Conditional throughput of the undisturbed response for a goal."""
        low, high = self.capacity_pps, 2 * self.saturation_pps / (1 - goal_loss_ratio)
        for _ in range(100):
            middle = (low + high) / 2
            if 1 - self.forwarded_pps(middle) / middle <= goal_loss_ratio:
                low = middle
            else:
                high = middle
        return self.forwarded_pps(low)


@dataclass(frozen=True)
class Stalled:
    """One stall."""

    from_s: float
    to_s: float
    own: bool


@dataclass(frozen=True)
class Passage:
    """What one trial did in the device."""

    dropped: int
    stalls: tuple[Stalled, ...]
    waits_s: tuple[float, ...]  # time in the buffer, sampled evenly over the trial, ascending
    slice_s: float = SLICE_S
    slices_dropped: tuple[int, ...] = ()  # by when they came
    slices_wait_s: tuple[float, ...] = ()  # in their middle


def passage(response: Response, load_pps: float, duration_s: float, draw: Random) -> Passage:
    """One trial through the device, as a fluid: between one event and the next all rates are constant."""
    factor = max(0.5, draw.gauss(1.0, response.noise))
    today = replace(
        response, capacity_pps=response.capacity_pps * factor, saturation_pps=response.saturation_pps * factor
    )
    sharp = today.saturation_pps <= today.capacity_pps
    entering_pps = load_pps if sharp else today.forwarded_pps(load_pps)
    stalls = _stalls(response.stalls, duration_s, draw)
    slice_s = max(SLICE_S, duration_s / SLICES_MAX)
    count = math.ceil(duration_s / slice_s - 1e-9)
    events = sorted(
        {0.0, duration_s}
        | {at * slice_s / 2 for at in range(2 * count) if at * slice_s / 2 < duration_s}
        | {min(duration_s, at) for stall in stalls for at in (stall.from_s, stall.to_s)}
    )
    lost = [0.0] * count
    waits = [0.0] * count
    backlog, up_to = 0.0, 0
    for begin, end in itertools.pairwise(events):
        while up_to < len(stalls) and stalls[up_to].to_s <= begin:
            up_to += 1
        away = up_to < len(stalls) and stalls[up_to].from_s <= begin
        at = min(count - 1, int((begin + end) / 2 / slice_s))
        length = end - begin
        rest_s = stalls[up_to].to_s - begin if away else 0.0
        if begin <= (at + 0.5) * slice_s:
            waits[at] = backlog / today.saturation_pps + rest_s
        served_pps = 0.0 if away else today.saturation_pps
        backlog = max(0.0, backlog + (entering_pps - served_pps) * length)
        lost[at] += max(0.0, backlog - response.buffer_packets) + (load_pps - entering_pps) * length
        backlog = min(backlog, response.buffer_packets)
    for when, packets in _background(response, duration_s, draw):
        lost[min(count - 1, int(when / slice_s))] += packets
    upto = [math.floor(whole + 1e-6) for whole in itertools.accumulate(lost)]
    every = max(1, count // SAMPLES)
    return Passage(
        dropped=upto[-1],
        stalls=tuple(stalls),
        waits_s=tuple(sorted(waits[every - 1 :: every])),
        slice_s=slice_s,
        slices_dropped=tuple(now - was for was, now in itertools.pairwise([0, *upto])),
        slices_wait_s=tuple(waits),
    )


def _stalls(kinds: tuple[StallKind, ...], duration_s: float, draw: Random) -> list[Stalled]:
    """In order, none within another one."""
    found: list[Stalled] = []
    for kind in kinds:
        at = draw.expovariate(kind.per_second)
        while at < duration_s:
            length_us = kind.shortest_us + draw.expovariate(1 / (kind.mean_us - kind.shortest_us))
            length_s = min(length_us, kind.longest_us) / US_PER_S
            found.append(Stalled(at, at + length_s, kind.own))
            at += length_s + draw.expovariate(kind.per_second)
    apart: list[Stalled] = []
    for stall in sorted(found, key=lambda stall: stall.from_s):
        if not apart or stall.from_s > apart[-1].to_s:
            apart.append(stall)
    return apart


def _background(response: Response, duration_s: float, draw: Random) -> list[tuple[float, int]]:
    """When, and packets."""
    lost: list[tuple[float, int]] = []
    if response.background_per_second:
        at = draw.expovariate(response.background_per_second)
        while at < duration_s:
            lost.append((at, draw.randint(1, 2 * response.background_packets - 1)))
            at += draw.expovariate(response.background_per_second)
    return lost
