# SPDX-License-Identifier: Apache-2.0
"""The result of a run: what `weir run` stores and every report reads. Units are in the names.

Shapes follow MLRsearch and RFC 2544 terms: a *trial* offers packets for a duration; a *throughput* is the
conditional throughput of one search goal; rates are totals over both directions unless a field says
otherwise. L2 bit/s counts the frame with FCS; L1 adds 20 B of preamble and gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

from weir.base.record import Record
from weir.base.topology import Topology
from weir.results.campaign import CampaignRecord, CaseRound
from weir.results.delay import ArrivalClock, Ipdv, Jitter, Latency, Pdv
from weir.results.document import Document
from weir.results.fingerprint import Fingerprint, MachineBest
from weir.results.migration import Migration
from weir.results.rfc2544 import Rfc2544
from weir.results.slices import Counted, LeftOut, TrialSlices
from weir.results.soak import Soak
from weir.results.throughput import RoundRate, Throughput
from weir.results.trial import (
    AreaLoad,
    CoreLoad,
    CoreSpeed,
    Drop,
    OffloadLoad,
    Originated,
    PathLoad,
    PollingLoad,
    StageLoad,
    Stall,
    StreamCount,
    Trial,
    slowness,
)
from weir.results.upgrades import RESULT_VERSION, upgrade_part

__all__ = [
    "RESULT_VERSION",
    "AreaLoad",
    "ArrivalClock",
    "Case",
    "Ceiling",
    "CoreLoad",
    "CoreSpeed",
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
    "OffloadLoad",
    "Originated",
    "Outcome",
    "PathLoad",
    "Pdv",
    "PollingLoad",
    "ProgramOutput",
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

    @property
    def name(self) -> str:
        """ "latency P99 at 50% PDR"."""
        first = "first packets' " if self.first_packets else ""
        return f"{first}latency P99 at {self.load}"

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
    problem: str | None = None
    """Why the case was given up."""
    seconds: float = 0.0
    """Time that it took."""

    @property
    def by_the_tester(self) -> bool:
        """False of what iperf3 sent: it has no trials."""
        return self.frame != TCP


class ProgramOutput(Record):
    """What a program of the user's said in one deployment, in a file beside the reports."""

    node: str
    """The function: "f1"."""
    file: str
    """Its path in the run's folder."""
    said_bytes: int
    """Size of its log, of which `program.output_mb` says how long it may become."""
    kept_bytes: int
    """Of these, in the file: the last ones."""


class N4Figures(Record):
    """What control plane functions did to one function's sessions by N4 (PFCP, TS 29.244), in one
    deployment."""

    function: str
    """As the lab names it."""
    associations: int
    """At the end."""
    sessions: int
    """Likewise, of those that N4 established."""
    established: int
    modified: int
    deleted: int
    """With their association, too."""
    accepted: int
    """Requests."""
    refused: int
    """Requests answered with another cause, or for their version."""
    refused_by: dict[str, int]
    """Of these, by cause: {"rule_failure": 2}."""
    repeated: int
    """Requests answered as before, and not done again."""
    not_associated: int
    """Ignored, since their sender has no association."""
    malformed: int
    """Ignored, since they are no requests that are known here, or not all there."""

    @classmethod
    def of(cls, function: str, counts: Mapping[str, int]) -> Self:
        """From weir-dp's figures of the function, without their prefix; causes that nobody was given are
        left out."""
        causes = {name: value for name, value in counts.items() if name.startswith("refused_") and value}
        refused_by = {name.removeprefix("refused_"): value for name, value in causes.items()}
        known = {name: value for name, value in counts.items() if name in cls.model_fields}
        return cls.model_validate({"function": function, "refused_by": refused_by} | known)


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
    outputs: list[ProgramOutput] = []
    """What programs of the user's said, in each deployment of it."""
    n4: list[N4Figures] = []
    """Of each function that is controlled by N4, in each deployment of it."""
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
    """Seed of everything random in the traffic."""
    started_at: str
    """Time in RFC 3339, UTC."""
    finished_at: str | None = None
    seconds: float = 0.0
    """Time that the run took."""
    interrupted: bool = False
    """Stopped early; what had finished is here."""
    campaign: CampaignRecord | None = None
    """How a run of a lab went through its points; None: of other procedures, and of older results."""
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
