# SPDX-License-Identifier: Apache-2.0
"""One trial, as results keep it: packets, where they were lost, delays, stalls, where the time went."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from weir.base.record import Record
from weir.base.si import US_PER_S
from weir.base.words import counted
from weir.results.delay import Gaps, Ipdv, Jitter, Latency, Pdv
from weir.results.loads import PIECES_MIN, AreaLoad, CoreLoad, CoreSpeed
from weir.results.slices import DISTURBED_SHARE, Counted, LeftOut, TrialSlices

Doubted = Literal["held", "accounting", "frames_changed"]
"""Why a trial says nothing, and a later one that is whole does not mend that; `Trial.doubted` says more."""
_TABLE_FULL = re.compile(r"(?<!queue)(?<!buffer)_full$|_exhausted$|_limit$")


def behind_earlier(packets: int) -> str:
    """Why a trial in which so many packets of an earlier one came says nothing."""
    return (
        f"{counted(packets, 'packet')} of an earlier trial came in it: the system under test was not yet "
        "empty of them, and what was sent waited behind them"
    )


HELD = "held"
"""Reason of packets that a function still had when it was asked: no drop, and of what came to it they are the
rest."""


class Drop(Record):
    """Packets lost at one place for one reason, counted there; of `not_returned` inferred: what went into a
    function outside weir-dp less what came out and what its own counters tell."""

    place: str
    """Where it was counted: "tester.left", "net0:f1.left", "area f1"."""
    reason: str
    """A symbol: "tx_queue_full", "rx_backlog_full"."""
    packets: int

    @property
    def decided_by(self) -> str | None:
        """The stage that dropped them by its own decision, "f1/firewall"; None: there was no room, or
        it still holds them."""
        parts = self.place.split("/")
        decided = len(parts) == len(("area", "path", "stage")) and self.reason != HELD
        return f"{parts[0]}/{parts[2]}" if decided else None

    @property
    def table_full(self) -> bool:
        """A function dropped them since what it remembers of flows had no room, or no port, for another."""
        return self.decided_by is not None and _TABLE_FULL.search(self.reason) is not None


class Originated(Record):
    """Packets that a function made itself, which nobody offered: answers, error indications, ICMP errors."""

    place: str
    """As of drops: area, path and function."""
    packets: int


class Stall(Record):
    """Gaps of a polling loop: the host had the core, or a poll took that long."""

    core: int
    """The processor core that polled."""
    count: int
    """Gaps longer than the lab's `stall_threshold_us`."""
    total_us: float
    """Their sum."""
    longest_us: float
    host_count: int = 0
    """Those that the host made: the kernel's clock of the thread stood still."""
    host_us: float = 0.0
    """Their sum."""
    host_sending_us: float | None = None
    """Of that, while packets were sent; the rest came until the last had arrived. Absent: not known."""


class StreamCount(Record):
    """Counters of one stream (one direction) in one trial."""

    stream: int
    """Its number in the traffic."""
    direction: str
    """Either "left-to-right" or "right-to-left"."""
    intended: int
    """Packets that the load asks for in the time."""
    offered: int
    """Packets handed to the port on schedule."""
    offered_bytes: int = 0
    """Of their frames, L2 with FCS, where they are a capture's; 0 of all others."""
    delivered: int
    """Packets of this trial received, each counted once."""
    counted_offered: int | None = None
    """Packets due in the time that counts; None: all of it does."""
    counted_lost: int | None = None
    """Of these, lost or left in a queue."""
    duplicates: int
    """Packets received again."""
    reordered: int
    """Packets received after a later one."""
    too_late: int = 0
    """Packets received when the trial was over, or after 65,536 later ones: lost."""
    from_earlier: int = 0
    """Packets of an earlier trial that were received in this one."""
    negative: int = 0
    """Packets that arrived before they were sent, as the clocks have it: the trial is invalid."""
    latency: Latency | None = None
    lateness: Latency | None = None
    """Of the tester's generator: how late it sent; it is part of the latency. None without a rate."""
    pdv: Pdv | None = None
    """Of trials that measure delay, as what follows."""
    ipdv: Ipdv | None = None
    jitter: Jitter | None = None
    tagged_us: float | None = None
    """Latency of the one tagged packet, of trials that have one."""
    gaps: Gaps | None = None
    """Of trials that ask when packets were lost; None where none were."""
    histogram: list[tuple[float, float, int]] = []
    """Latency: from (us), up to but without (us), packets; only where there are any."""


Purpose = Literal[
    "calibration",
    "preflight",
    "search",
    "curve",
    "confirm",
    "latency",
    "first-packets",
    "frame-loss",
    "burst",
    "recovery",
    "reset",
    "soak",
    "migration",
]


class Trial(Record):
    """One trial. `offered` + Σ `originated` = `delivered` + `originated_arrived` + Σ `drops` + `unaccounted`;
    valid only if unaccounted is 0.

    But in a reset trial, whose counters were reset too: there `unaccounted` packets are lost.
    """

    purpose: Purpose
    intended_load_pps: float
    """Both directions together; of a trial as fast as the tester can what was reached."""
    intended_duration_s: float
    duration_s: float
    """Time that sending took."""
    intended: int
    """Packets that the load asks for in the time."""
    offered: int
    """Packets handed to the tester's ports."""
    delivered: int
    """Packets received, each counted once."""
    loss_ratio: float
    """Always 1 - delivered / offered."""
    drops: list[Drop] = []
    """Where and why packets were lost, those that functions made among them."""
    originated: list[Originated] = []
    """Where functions made packets themselves."""
    originated_arrived: int = 0
    """Of these, at the tester's ports, which took so many that it did not send."""
    unaccounted: int = 0
    """Packets that nobody counted; below 0: too many were counted."""
    backlog: int = 0
    """Packets still queued when sending ended, by the growth of latency; a search takes them for lost."""
    duplicates: int = 0
    reordered: int = 0
    stalls: list[Stall] = []
    """Stalls of the host seen while it ran."""
    loss_during_stall: bool = False
    """Of older results alone: packets were lost, and a stall was seen in the same trial."""
    valid: bool
    """Whether the trial may be used."""
    invalid_because: list[str] = []
    """Sentences with numbers; empty for a valid trial."""
    doubted: list[Doubted] = []
    """Of these reasons those that a later trial does not answer: the system under test was not empty of an
    earlier trial, or never became so; packets were made or lost unseen; or frames changed on the way."""
    streams: list[StreamCount] = []
    """The same for each direction."""
    areas: list[AreaLoad] = []
    """Where the time went; of the warm-up ("calibration"), curve and confirming trials, and of those at loads
    that are given where nothing is searched for."""
    cores: list[CoreLoad] = []
    """The cores that take part, of the same trials."""
    core_speeds: list[CoreSpeed] = []
    """How fast the polling cores were."""
    distances_cycles: dict[str, float] = {}
    """By both cores, "0-1": to read on the one what the other has, there and back, just before."""
    slower_times: float | None = None
    """In all of the time that counts a core took so many times as long for the same work as at its best, in
    this run or an earlier one; None: it did not, or it is unknown."""
    counted: Counted | None = None
    """What of it counts; absent where its time was not divided."""
    left_out: list[LeftOut] = []
    """When cores were not there, in order; what was due or under way then does not count."""
    slices: TrialSlices | None = None

    @property
    def silent(self) -> list[StreamCount]:
        """The directions of which something was sent and nothing arrived."""
        return [one for one in self.streams if one.offered and not one.delivered]

    @property
    def from_earlier(self) -> int:
        """Packets of an earlier trial that came in this one: the system under test held them until then."""
        return sum(one.from_earlier for one in self.streams)

    @property
    def counted_offered(self) -> int:
        """Packets that a verdict rests on."""
        return self.counted.offered if self.counted is not None else self.offered

    @property
    def counted_short(self) -> int:
        """Packets that the tester was too slow to send. What was due while its core was away is none."""
        if self.counted is not None and self.counted.short is not None:
            return self.counted.short
        return self.intended - self.offered

    @property
    def counted_due(self) -> int:
        """Packets that were due in the time that counts."""
        return self.counted_offered + self.counted_short if self.counted is not None else self.intended

    @property
    def counted_lost(self) -> int:
        """Of these, lost or left in a queue."""
        if self.counted is not None:
            return min(self.counted.offered, self.counted.lost + self.counted.backlog)
        return min(self.offered, max(0, self.offered - self.delivered + self.backlog))

    @property
    def counted_loss_ratio(self) -> float:
        """Share of the packets that a verdict rests on."""
        return self.counted_lost / self.counted_offered if self.counted_offered else 0.0

    @property
    def left_out_share(self) -> float:
        """Of its time: what does not count. Of time that was not divided: in which the host had a core, of
        the core that it had for longest."""
        if not self.duration_s:
            return 0.0
        if self.counted is not None:
            return max(0.0, 1 - self.counted.seconds / self.duration_s)
        host_us = max((stall.host_us for stall in self.stalls), default=0.0)
        return min(1.0, host_us / US_PER_S / self.duration_s)

    @property
    def disturbed(self) -> bool:
        """Whether that was more than half of it: it says little of the system under test."""
        return self.left_out_share > DISTURBED_SHARE

    def piece_cycles(self) -> dict[int, float]:
        """Of a piece of work by core, of cores that timed enough of them."""
        return {one.core: one.cycles / one.pieces for one in self.core_speeds if one.pieces >= PIECES_MIN}


def left_out_s(trials: Iterable[Trial]) -> tuple[float, float]:
    """Of the time of those trials whose time was divided: what does not count, and all."""
    divided = [(trial.duration_s, trial.counted.seconds) for trial in trials if trial.counted is not None]
    return sum(max(0.0, whole - counted) for whole, counted in divided), sum(whole for whole, _ in divided)


def left_out_share(trials: Iterable[Trial]) -> float:
    """The same as a share; 0 where no trial's time was divided."""
    out_s, whole_s = left_out_s(trials)
    return out_s / whole_s if whole_s else 0.0


def slowness(trials: Sequence[Trial]) -> list[dict[int, float]]:
    """Of each trial by core: how many times as long the same work took as at its best in any of them."""
    timed = [trial.piece_cycles() for trial in trials]
    best: dict[int, float] = {}
    for seen in timed:
        best |= {core: min(cycles, best.get(core, cycles)) for core, cycles in seen.items()}
    return [{core: cycles / best[core] for core, cycles in seen.items()} for seen in timed]
