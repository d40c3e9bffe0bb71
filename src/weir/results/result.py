# SPDX-License-Identifier: Apache-2.0
"""The result of a run: what `weir run` stores and every report reads. Units are in the names.

Shapes follow MLRsearch and RFC 2544 terms: a *trial* offers packets for a duration; a *throughput* is the
conditional throughput of one search goal; rates are totals over both directions unless a field says
otherwise. L2 bit/s counts the frame with FCS; L1 adds 20 B of preamble and gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from weir.base.record import Record
from weir.results.campaign import CampaignRecord
from weir.results.case import Case, Ceiling, DelayPoint, Outcome, Verdict
from weir.results.delay import ArrivalClock, Ipdv, Jitter, Latency, Pdv
from weir.results.document import Document
from weir.results.fingerprint import Fingerprint, MachineBest
from weir.results.loads import AreaLoad, CoreLoad, CoreSpeed, OffloadLoad, PathLoad, PollingLoad, StageLoad
from weir.results.setup import HostSetting, ProgramOutput, Setup
from weir.results.slices import Counted, LeftOut, TrialSlices
from weir.results.throughput import RoundRate, Throughput
from weir.results.trial import Drop, Originated, Stall, StreamCount, Trial, slowness
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
    files_sha256: dict[str, str] = {}
    """Hash of each file that the lab names, by its path; those of more than 64 MiB by their size and both
    ends. Empty: none, or an older result."""
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
