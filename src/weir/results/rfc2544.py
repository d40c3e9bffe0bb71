# SPDX-License-Identifier: Apache-2.0
"""What the procedures of RFC 2544, RFC 6201 and RFC 9004 found for one frame size.

The throughput itself is the case's, under the goals `throughput` and `throughput (bisection)`. Loads are of
both directions together; what is counted in frames, and the rates that frames are divided by, are of one
direction.
"""

from __future__ import annotations

from typing import Literal

from weir.base.record import Record
from weir.results.delay import Latency


class Deviation(Record):
    """Where what ran is not what the RFC asks for."""

    clause: str
    """Of which RFC: "RFC 2544, 24"."""
    asked: str
    ran: str


class TaggedLatency(Record):
    """RFC 2544 26.2 in one direction, and the latency of all frames of the same trials."""

    direction: str
    tagged_us: list[float]
    """Of the tagged frame of each trial."""
    mean_us: float
    """Their mean: the latency that RFC 2544 asks to report."""
    latency: Latency
    """Of all frames of all trials together: quantiles are those of their histograms added."""
    late_max_us: float | None = None
    """The most by which the tester sent any frame of them too late; it is part of the latency."""


class LatencyTest(Record):
    """RFC 2544 26.2."""

    load_pps: float
    """The throughput."""
    trial_s: float
    tag_s: float
    repeats: int
    """Valid trials."""
    directions: list[TaggedLatency] = []
    why: str | None = None
    """Why there is none."""


class LossStep(Record):
    """One load of RFC 2544 26.3."""

    share: float
    """Of the maximum rate."""
    load_pps: float
    loss_ratio: float | None
    """Of all its frames, as the RFC asks; None: no valid trial."""
    left_out_share: float = 0.0
    """Of its time: in which another program or the host had a core."""
    counted_loss_ratio: float | None = None
    """Of the frames of the rest of its time; None: none of it was left out, or in older results."""
    why: str | None = None


class LossTest(Record):
    """RFC 2544 26.3: from the maximum rate down until two successive trials lose nothing."""

    trial_s: float
    steps: list[LossStep] = []
    complete: bool = False
    """Two successive trials lost nothing."""


class BurstTest(Record):
    """RFC 2544 26.4 as RFC 9004 has it. One direction; in the other the same burst at the same time."""

    longest_frames: list[int] = []
    """The longest burst without loss of each search."""
    repeats: int = 0
    """Searches that ended (N)."""
    average_frames: float | None = None
    """The Back-to-Back Frame benchmark."""
    min_frames: int | None = None
    max_frames: int | None = None
    stdev_frames: float | None = None
    """Of the sample."""
    step_frames: int = 0
    """Accuracy of a search."""
    limit_frames: int = 0
    """Longest burst tried."""
    at_limit: int = 0
    """Searches whose longest burst was the longest tried: the buffer may be larger."""
    unproven: int = 0
    """Searches in which the next longer burst could not be believed, rather than lost frames: likewise."""
    verifications: int = 0
    """Times that a burst with loss was sent again."""
    max_frame_rate_pps: float | None = None
    """Max Theoretical Frame Rate: of the medium; without one, or where bursts were sent slower than that,
    their rate."""
    throughput_pps: float | None = None
    """Measured Throughput: how fast the system under test processes headers."""
    implied_s: float | None = None
    """Implied buffer time: average / maximum rate (RFC 9004, 6.4)."""
    corrected_s: float | None = None
    """Corrected buffer time: without the frames that were forwarded while the burst came in."""
    why: str | None = None
    """Why there is none, or what to bear in mind."""


class RecoveryTest(Record):
    """RFC 2544 26.5."""

    overload_pps: float
    """110 % of the throughput, or the highest rate that could be sent if that is lower."""
    overload_s: float
    recovery_pps: float
    """Half of that."""
    times_s: list[float] = []
    """From the cut until the last lost frame was sent, of the slower direction; 0: none was after it."""
    average_s: float | None = None
    unresolved: int = 0
    """Trials that lost frames until their end, or of which none was valid."""
    why: str | None = None


class ResetTest(Record):
    """RFC 2544 26.6 as RFC 6201 has it: one kind of reset, under load at the throughput."""

    what: str | None
    """What was reset, and how; None: nothing can be."""
    clause: str | None = None
    """Which kind of reset that is: "RFC 6201, 4.2.2"."""
    load_pps: float = 0.0
    lost_frames: list[int] = []
    """Of each trial, both directions together."""
    by_loss_s: list[float] = []
    """Frame-loss method, of the slower direction: lost frames by its offered rate (RFC 6201, 1.3)."""
    by_timestamp_s: list[float] = []
    """Time-stamp method, likewise: from the last frame received before to the first one after."""
    loss_average_s: float | None = None
    timestamp_average_s: float | None = None
    unresolved: int = 0
    """Trials that lost frames until their end, or of which none was valid."""
    why: str | None = None


class Rfc2544(Record):
    """The report of one frame size."""

    tests: list[str]
    """Those that were asked for."""
    max_pps: float
    """100 %: both directions together."""
    max_is: Literal["medium", "tester", "lab"]
    """Whether that is what fits on the medium, what the tester can send and receive, or, where that is not
    known, what the lab allows."""
    link_bps: float | None = None
    """Of the medium, each direction."""
    latency: LatencyTest | None = None
    frame_loss: LossTest | None = None
    back_to_back: BurstTest | None = None
    recovery: RecoveryTest | None = None
    resets: list[ResetTest] = []
    deviations: list[Deviation] = []
    """Everything in which this is not what the RFCs ask for."""
