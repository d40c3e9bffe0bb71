# SPDX-License-Identifier: Apache-2.0
"""Delays of one trial and how they vary, as results keep them, the gaps between packets that arrived, and
what timed their arrival."""

from __future__ import annotations

from typing import Literal

from weir.base.record import Record


class Latency(Record):
    """One-way latency over delivered packets, from when each was due to its arrival.

    `clocks` of the case says what timed their arrival. Or the lateness of the tester's generator: over all
    packets sent, from when each was due until it was built.
    """

    packets: int
    min_us: float
    mean_us: float
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    p9999_us: float = 0.0
    max_us: float


class Pdv(Record):
    """Delay above the least one of the trial (RFC 5481, 4.2): quantiles of the latency, less its minimum."""

    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    p9999_us: float
    max_us: float


class Ipdv(Record):
    """Delay less that of the packet sent before it, both received in order (RFC 5481, 4.1)."""

    pairs: int
    min_us: float
    """With its sign, as max_us."""
    max_us: float
    mean_size_us: float
    """Without its sign, as all that follow."""
    p50_size_us: float
    p90_size_us: float
    p99_size_us: float
    p999_size_us: float
    p9999_size_us: float

    @property
    def greatest_us(self) -> float:
        """Without its sign."""
        return max(-self.min_us, self.max_us)


class Jitter(Record):
    """Interarrival jitter (RFC 3550, 6.4.1) after each packet, in order of arrival."""

    mean_us: float
    max_us: float
    last_us: float


class Gaps(Record):
    """Gaps in the sequence of packets that arrived."""

    count: int
    last_lost_us: float
    """From the start of the trial: when the last lost packet can have been sent at latest."""
    longest_us: float
    """Between the arrivals on the two sides of a gap, at most."""


class ArrivalClock(Record):
    """What timed the arrivals of one direction; times of sending are the time-stamp counter's."""

    direction: str
    """Either "left-to-right" or "right-to-left"."""
    clock: Literal["counter", "card"]
    """The time-stamp counter when a loop took the packet, or the network card's when it arrived."""
    driver: str
    """Of the port where they arrived."""
    resolution_ns: float
    """Smallest difference that it shows."""
    uncertainty_ns: float = 0.0
    """How far the card's time can be off in the counter's time."""
    why: str | None = None
    """Why it was the counter where the lab lets the card's clock do it."""
