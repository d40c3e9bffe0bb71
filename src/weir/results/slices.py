# SPDX-License-Identifier: Apache-2.0
"""What of a trial counted, and how it went slice by slice of its time."""

from __future__ import annotations

from weir.base.record import Record

DISTURBED_SHARE = 0.5
"""Of the time of trials: with more left out, since others had a core, what rests on them is disturbed."""


class LeftOut(Record):
    """A time in which a core was not there for the packets, from the start of the trial."""

    core: int
    from_us: float
    to_us: float
    by: str
    """Who had it: "host", a program with its thread's number, or "slowed"."""


class Counted(Record):
    """What of the trial counts: the time in which all cores were there for the packets."""

    seconds: float
    recovering_s: float = 0.0
    """Of these, behind a time that was left out, until delays were again what they are without."""
    offered: int
    """Packets that were due and sent in that time."""
    lost: int
    """Of these; in the time of recovering those alone that the load is to blame for."""
    short: int | None = None
    """Packets that were due in that time and not sent: the tester was too slow for the load. Absent in
    older results."""
    backlog: int = 0
    """More of these still queued at its end than at its beginning, by the growth of delays."""

    in_pauses: bool = False
    """Packets were lost in a few milliseconds, while queues were empty in most: in pauses of the system under
    test or of the machine, and not for lack of capacity."""

    @property
    def loss_ratio(self) -> float:
        """Share that was lost or left in a queue."""
        return min(1.0, (self.lost + self.backlog) / self.offered) if self.offered else 0.0


class TrialSlices(Record):
    """Packets of all streams by the slice of time in which they were due."""

    width_us: float
    offered: list[int]
    lost: list[tuple[int, int]] = []
    """Number of a slice, and packets of it; only where some were."""
    delay_us: list[float]
    """Mean, from when they were due; 0 where none arrived."""
