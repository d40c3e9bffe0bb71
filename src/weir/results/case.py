# SPDX-License-Identifier: Apache-2.0
"""What was found of one frame size on one built chain, and the service level's verdicts on it."""

from __future__ import annotations

from itertools import islice
from typing import Any, Literal

from weir.base.record import Record
from weir.results.campaign import CaseRound
from weir.results.delay import ArrivalClock
from weir.results.migration import Migration
from weir.results.rfc2544 import Rfc2544
from weir.results.soak import Soak
from weir.results.throughput import Throughput
from weir.results.trial import StreamCount, Trial

TESTER_BOUND_SHARE = 0.9
"""Of what the tester alone can do: a result above it says little about the system under test."""
CEILING_STEP = 0.93
"""From one rate that the tester alone did not do to the next lower one that is tried."""


class Ceiling(Record):
    """The tester alone, in loopback over the same kind of port."""

    max_pps: float
    """Highest rate, both directions together."""
    latency_floor_us: float | None
    """Latency of the tester and its wire alone."""
    timestamp_resolution_ns: float
    """Smallest difference that a timestamp can show."""
    limited_by: str
    """A sentence: what stops it."""

    def near(self, pps: float) -> bool:
        """Whether it may be the ceiling that bounds this rate."""
        return pps >= TESTER_BOUND_SHARE * self.max_pps

    def refuted_by(self, carried_pps: float | None) -> bool:
        """Whether the tester has done more beside a system under test than the step above the ceiling, which
        it did not do alone: what measured the ceiling was disturbed."""
        return carried_pps is not None and carried_pps > self.max_pps / CEILING_STEP


CARRIED = "carried at "
"""Begins the name of what a given load came to."""


class DelayPoint(Record):
    """Delay at one load."""

    load: str
    """As the lab says it: "50% PDR"."""
    load_pps: float
    """Both directions together."""
    first_packets: bool = False
    """Only the first packet of each flow was measured."""
    trials: list[Trial] = []
    """One for each repeat, the last of its retries; `streams` have the distributions."""
    worst_direction: str | None = None
    """The one with the highest P99 over all trials that count."""

    @property
    def name(self) -> str:
        """ "latency P99 at 50% PDR"."""
        return ("first packets' " if self.first_packets else "") + f"latency P99 at {self.load}"

    @property
    def label(self) -> str:
        """ "50% PDR", "first packets, 50% PDR": in a table's column of loads."""
        return f"first packets, {self.load}" if self.first_packets else self.load

    @property
    def carried(self) -> str:
        """ "carried at 100kpps"."""
        return f"{CARRIED}{self.load}"

    @property
    def carried_pps(self) -> tuple[float, ...]:
        """What of the load its valid trials delivered, both directions together, of what counts."""
        return tuple(
            self.load_pps * (1 - trial.counted_lost / trial.counted_offered)
            for trial in self.trials
            if trial.valid and trial.counted_offered
        )

    @property
    def counting(self) -> list[Trial]:
        """The valid trials; all, if none is."""
        return [trial for trial in self.trials if trial.valid] or self.trials

    @property
    def worst(self) -> StreamCount | None:
        """Of the valid trials, or of all if none is, the stream of the worse direction with the highest P99;
        None: none measured a delay."""
        return max(
            (
                stream
                for trial in self.counting
                for stream in trial.streams
                if stream.latency is not None and stream.direction == self.worst_direction
            ),
            key=lambda stream: stream.latency.p99_us if stream.latency else 0.0,
            default=None,
        )

    @property
    def samples_us(self) -> tuple[float, ...]:
        """P99 of its valid trials, in the worse direction."""
        return tuple(
            one.latency.p99_us
            for trial in self.trials
            if trial.valid
            for one in trial.streams
            if one.latency and one.direction == self.worst_direction
        )


Outcome = Literal["missed", "not judged", "met"]
"""Of one limit; worst first."""


class Verdict(Record):
    """One limit of the service level, judged."""

    criterion: str
    """What is limited: "latency P99"."""
    load: str | None = None
    """The latency load; none for a throughput."""
    direction: str | None = None
    limit: float
    found: float | None
    """None: it could not be measured, so nobody knows whether it is met."""
    below: bool = False
    """It is less than `found`: that was the lowest load tried, and too much."""
    unit: str
    share: float | None
    """Of the limit that is used up: above 1 it is not met. None where there is no such number."""
    met: bool
    """False of what could not be measured, too."""
    why: str | None = None
    """Why it could not be measured."""

    @property
    def outcome(self) -> Outcome:
        """One of three."""
        return "met" if self.met else "missed" if self.found is not None else "not judged"


TCP = "tcp"
"""The frame of a case that TCP/IP stacks sent, not the tester."""


class Case(Record):
    """One frame size (or IMIX) on one built chain."""

    frame: str
    """Size in bytes with FCS, or "imix:" and a genome of RFC 6985; or TCP."""
    mean_frame_bytes: float
    """Mean size over the mix, with FCS."""
    ceiling: Ceiling | None = None
    clocks: list[ArrivalClock] = []
    """What timed arrivals, for each direction; with the last trial."""
    throughput: list[Throughput] = []
    """One for each search goal."""
    curve: list[Trial] = []
    """Received against offered."""
    trials: list[Trial] = []
    """All others, valid or not, in order."""
    delays: list[DelayPoint] = []
    """Latency, PDV, IPDV and jitter at given loads."""
    verdicts: list[Verdict] = []
    """One for each limit of the lab's service level."""
    rfc2544: Rfc2544 | None = None
    """Of the procedures of RFC 2544 and RFC 9004, where they were run."""
    soak: Soak | None = None
    """Constant load for long, where that was asked for."""
    migration: Migration | None = None
    """A live migration under load, likewise."""
    records: dict[str, dict[str, Any]] = {}
    """What other procedures found, each in the shape that its name stands for."""
    rounds: list[CaseRound] = []
    """What each round measured, of a case that had several; the rest is what they say together."""
    round: int | None = None
    """In which round, of a case that had one; as of those, likewise absent in results of older versions."""
    problem: str | None = None
    """Why the case was given up."""
    seconds: float = 0.0
    """Time that it took."""

    @property
    def ledgered(self) -> list[Trial]:
        """Trials that kept a ledger of their areas, and sent something: those at loads that were given, where
        nothing was searched for; else the curve's and others."""
        given = [trial for point in self.delays for trial in point.trials] if not self.throughput else []
        told = [trial for trial in given if trial.areas and trial.offered]
        return told or [trial for trial in (*self.curve, *self.trials) if trial.areas and trial.offered]

    @property
    def trials_of_rounds(self) -> list[list[Trial]]:
        """`trials`, those of each of `rounds`; all of them of a case that had one."""
        if not self.rounds:
            return [self.trials]
        every = iter(self.trials)
        return [[*islice(every, one.trials)] for one in self.rounds]

    @property
    def by_the_tester(self) -> bool:
        """False of what iperf3 sent: it has no trials."""
        return self.frame != TCP
