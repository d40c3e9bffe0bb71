# SPDX-License-Identifier: Apache-2.0
"""What replaying captures through a chain came to. The trials themselves are those of the case."""

from __future__ import annotations

from weir.base.record import Record
from weir.results.delay import Latency


class CaptureSent(Record):
    """What one end sends."""

    direction: str
    frames: int
    """Of the file, those that pass the filter."""
    mean_frame_bytes: float
    """With FCS."""
    own_pps: float
    """Its own rate, as captured."""
    own_seconds: float
    """From the file's first frame to the last of these, as captured."""


class Replay(Record):
    """One capture, or one for each direction, replayed through one built chain."""

    asked: str
    """As the lab says it: "recorded", "2x", "5kpps"."""
    captures: list[CaptureSent]
    own_pps: float
    """Of all captures together, as captured: from the first frame of any to the last of any."""
    own_seconds: float
    """What the longest takes, as captured."""
    factor: float
    """So many times as fast they were replayed."""
    load_pps: float
    """Therefore the mean rate."""
    l2_bps: float
    """The same in bits of frames with FCS."""
    seconds: float
    """What one replay takes."""
    replays: int = 0
    """That are valid; figures that follow are theirs."""
    loss_ratio: float | None = None
    """Their median."""
    loss_ratio_min: float | None = None
    loss_ratio_max: float | None = None
    lateness: Latency | None = None
    """How long after their times frames were sent, in the worst direction of the replay that was worst."""
    latency: Latency | None = None
    """Likewise, from the tester's port to the tester's port; of captures with a stamp."""
