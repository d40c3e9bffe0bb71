# SPDX-License-Identifier: Apache-2.0
"""The result of a run: what `weir run` stores and every report reads. Units are in the names.

Shapes follow MLRsearch and RFC 2544 terms: a *trial* offers packets for a duration; a *throughput* is the
conditional throughput of one search goal; rates are totals over both directions unless a field says
otherwise. L2 bit/s counts the frame with FCS; L1 adds 20 B of preamble and gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Protocol

from weir.base.record import Record
from weir.base.topology import Topology
from weir.results.document import RESULT_VERSION, Document, upgrade_part
from weir.results.fingerprint import Fingerprint, MachineBest
from weir.results.migration import Migration
from weir.results.rfc2544 import Rfc2544
from weir.results.slices import Counted, LeftOut, TrialSlices
from weir.results.soak import Soak
from weir.results.trial import (
    AreaLoad,
    CoreLoad,
    CorePace,
    Drop,
    Ipdv,
    Jitter,
    Latency,
    PathLoad,
    Pdv,
    PollingLoad,
    StageLoad,
    Stall,
    StreamCount,
    Trial,
    slowness,
)

__all__ = [
    "RESULT_VERSION",
    "AreaLoad",
    "ArrivalClock",
    "Case",
    "Ceiling",
    "CoreLoad",
    "CorePace",
    "Counted",
    "DelayMeasure",
    "DelayPoint",
    "Drop",
    "Fingerprint",
    "HostSetting",
    "Ipdv",
    "Jitter",
    "Latency",
    "LeftOut",
    "MachineBest",
    "PathLoad",
    "Pdv",
    "PollingLoad",
    "Reduction",
    "Result",
    "RoundRate",
    "Setup",
    "Shortfall",
    "StageLoad",
    "Stall",
    "StreamCount",
    "Throughput",
    "Trial",
    "TrialSlices",
    "Verdict",
    "slowness",
]

DelayMeasure = Literal["mean", "p99", "max", "ipdv_mean", "ipdv_max", "jitter_max"]


class HostSetting(Record):
    """One key of the lab's `host`, and what became of it on this machine."""

    key: str
    """As the lab writes it: "isolation"; also "pmd_cores" and "lcores" of ovs-dpdk."""
    asked: str | None
    """The lab's value: "auto", "partition"; None: the lab says nothing."""
    applied: bool
    """It held while packets flowed."""
    why: str | None = None
    """Why it was asked for and not done, or what of it was not done."""


class Shortfall(Record):
    """Something of the machine that no lab key could change."""

    subject: str
    """As `weir doctor` calls it: "c-states"."""
    what: str
    """What is, in words."""


class Reduction(Record):
    """One part of the delay at one load, against the baseline in the rounds next to it."""

    chain: str
    frame: str
    load: str
    """As the lab says it."""
    way: str
    """The technology or variant."""
    baseline: str
    """The technology or variant that it is compared with."""
    measure: DelayMeasure
    """Of the worse direction. ipdv: without its sign (RFC 5481); jitter: RFC 3550."""
    baseline_us: float
    """Median over the rounds."""
    found_us: float
    """Median over the rounds of what is compared with it."""
    reduction: float
    """Always 1 - found / baseline, each round by itself: the median. Below 0: it grew."""
    reduction_min: float
    reduction_max: float
    rounds: int
    """In which both were measured validly."""
    same_load: bool
    """Both carried the same load, within 1 %."""
    loss_ratio: float
    """The higher one of both, over all rounds."""


class _OfState(Protocol):
    slower_times: float | None
    farther_times: float | None


class InState:
    """What was found in some state of the machine. Has no fields: records have them where they want them."""

    @property
    def worse_state(self: _OfState) -> bool:
        """It was only measured in a worse state of the machine than it is known to have."""
        return self.slower_times is not None or self.farther_times is not None


class RoundRate(Record, InState):
    """What one round of a run found."""

    round: int
    """From 0; everything that a run compares is measured once a round."""
    load_pps: float
    slower_times: float | None = None
    """As of the throughput, like the next one."""
    farther_times: float | None = None


class Throughput(Record, InState):
    """What one search goal found."""

    goal: str
    """NDR, PDR, or a name that the lab gives."""
    goal_loss_ratio: float
    """What the goal allows."""
    status: Literal["found", "irregular"]
    why: str | None = None
    """Why it is irregular, or what to bear in mind though it was found."""
    load_pps: float | None = None
    """Conditional throughput: median over the repeats, both directions together."""
    load_min_pps: float | None = None
    """Lowest of the repeats."""
    load_max_pps: float | None = None
    """Highest of the repeats."""
    lower_bound_pps: float | None = None
    """Relevant lower bound: intended load, median over repeats."""
    upper_bound_pps: float | None = None
    """Relevant upper bound, likewise; None: no load was too much."""
    repeats: int = 0
    """Searches that found a throughput."""
    l2_bps: float | None = None
    """The same rate in bit/s of frames with FCS."""
    l1_bps: float | None = None
    """The same with 20 B a frame of preamble and gap."""
    loss_ratio: float | None = None
    """Measured again at `lower_bound_pps`."""
    tester_bound: bool = False
    """Within 10 % of the tester's own ceiling: the system under test may do more."""
    stall_labelled: bool = False
    """Of older results: stalls of the host can explain the loss of a trial at a load that bounds it."""
    out_of_time: bool = False
    """The time limit came before the bounds were as close as asked: the answer is all between them."""
    slower_times: float | None = None
    """Where each trial that lost too much was in a slower state of the machine: how many times as long the
    slowest core took for the same work as at its best, in this run or in earlier ones since the machine
    booted. In a better state it may carry more."""
    farther_times: float | None = None
    """Likewise where the cores were so many times farther from each other than at their best."""
    distances_cycles: dict[str, float] = {}
    """By both cores, "0-1": to read on the one what the other has, there and back; of those trials that lost
    too much, in the one with the nearest cores."""
    left_out_share: float = 0.0
    """Of the time of the trials at the loads that bound it: not counted, since a core was away."""
    unsteady: bool = False
    """Trials at the load just above lost packets in pauses (see `Counted`), or more than that load can be too
    much: the system under test or the machine was slower in them than in those at the rate itself."""
    rounds: list[RoundRate] = []
    """What each round found, in order; those alone that found a rate."""


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
    """The one with the highest P99 over all trials."""


class Verdict(Record):
    """One limit of the service level, judged."""

    criterion: str
    """What is limited: "latency P99"."""
    load: str | None = None
    """The latency load; none for a throughput."""
    direction: str | None = None
    limit: float
    found: float | None
    """None: it could not be measured, and so is not met."""
    unit: str
    share: float | None
    """Of the limit that is used up: above 1 it is not met. None where there is no such number."""
    met: bool


class Case(Record):
    """One frame size (or IMIX) on one built chain."""

    frame: str
    """Size in bytes with FCS, or "imix:" and a genome of RFC 6985."""
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
    problem: str | None = None
    """Why the case was given up."""
    seconds: float = 0.0
    """Time that it took."""


class Setup(Record):
    """One technology and chain, deployed once."""

    technology: str
    """As the lab names it."""
    variant: str | None = None
    """What reports call it where the lab compares variants; None: by its technology."""
    chain: str
    """PVP, PVVP, or the function names joined by hyphens."""
    datapath: str
    """What switches: "Linux bridge (kernel)", "Open vSwitch 3.1.0 (userspace datapath)", "none"."""
    topology: Topology | None = None
    """What was built."""
    fidelity: list[str] = []
    """What the numbers rest on, in sentences."""
    host: list[HostSetting] = []
    """What became of the lab's `host` on this machine."""
    refused: str | None = None
    """Why this machine cannot run it, with what is missing."""
    bring_up_s: float | None = None
    """Time to build it."""
    cases: list[Case] = []
    """One for each frame size."""

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.variant or self.technology


class Result(Document):
    """A whole run of a lab."""

    VERSION: ClassVar[int] = RESULT_VERSION

    version: int = RESULT_VERSION
    """Version of this format."""
    weir: str
    """Version of Weir."""
    id: str
    """Unique name of the run."""
    lab: str
    """Name of the lab."""
    title: str
    """Its title."""
    quick: bool
    """The lab's quick overlay was used."""
    spec_sha256: str
    """Hash of the resolved lab."""
    seed: int
    """Seed of everything random."""
    started_at: str
    """Time in RFC 3339, UTC."""
    finished_at: str | None = None
    seconds: float = 0.0
    """Time that the run took."""
    interrupted: bool = False
    """Stopped early; what had finished is here."""
    baseline: str
    """The technology, or variant, that ratios refer to."""
    fingerprint: Fingerprint
    machine: MachineBest | None = None
    """This run's own best; rates' states are compared with it, and with that of earlier runs in the store."""
    spec: dict[str, Any]
    """The resolved lab."""
    setups: list[Setup] = []
    """One for each technology, or variant, and chain."""
    reductions: list[Reduction] = []
    """What each way takes off the baseline's delays, where the lab measures delays."""
    shortfalls: list[Shortfall] = []
    """What this machine cannot show of a tuned host; of runs that compare variants."""

    def cases(self) -> Iterator[tuple[Setup, Case]]:
        """All, each with the setup that it is of."""
        for setup in self.setups:
            for case in setup.cases:
                yield setup, case

    @classmethod
    def upgrade(cls, document: dict[str, Any], version: int) -> None:
        """From that version to the present one, in place, with all that is in it."""
        upgrade_part(document, "result", version)
