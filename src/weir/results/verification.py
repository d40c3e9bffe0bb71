# SPDX-License-Identifier: Apache-2.0
"""What `weir verify` found of a cloud, suite by suite and case by case."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from weir.base.record import Record, document_schema
from weir.results.calls import CallCapacity, CallLoad
from weir.results.chains import ChainLoad
from weir.results.document import VERIFICATION_VERSION, Document
from weir.results.result import Fingerprint, Verdict
from weir.results.scenario import ScenarioLoad

CaseOutcome = Literal["passed", "failed", "skipped", "not run"]


class Operation(Record):
    """One thing that a case had the cloud do, in order."""

    name: str
    """ "boot two servers"."""
    seconds: float
    """Its turn-around time."""
    found: str = ""
    """What it gave, in a few words."""


class CaseResult(Record):
    """One case."""

    name: str
    title: str
    """What it shows, in a sentence."""
    outcome: CaseOutcome = "not run"
    why: str | None = None
    """Of a case that failed, or was skipped: the cause."""
    seconds: float = 0.0
    """With what it had made for itself, and without clean-up."""
    clean_up_seconds: float = 0.0
    operations: list[Operation] = []
    calls: list[CallLoad] = []
    """Of a case that offers calls: each load, in order."""
    capacity: CallCapacity | None = None
    """Of a case that searches for it."""
    scenario: ScenarioLoad | None = None
    """Of a case that does one several times."""
    chains: list[ChainLoad] = []
    """Of a case that loads a chain: each frame size and number of flows, in order."""
    not_removed: str | None = None
    """What the clean-up could not remove, and why; None: nothing is left."""


class SuiteResult(Record):
    """One suite."""

    name: str
    title: str
    cases: list[CaseResult] = []
    verdicts: list[Verdict] = []
    """One for each limit of the service level."""

    def count(self, outcome: CaseOutcome) -> int:
        """Cases with it."""
        return sum(one.outcome == outcome for one in self.cases)


class Verification(Document):
    """A whole run."""

    VERSION: ClassVar[int] = VERIFICATION_VERSION

    version: int = VERIFICATION_VERSION
    weir: str
    """Version of Weir."""
    id: str
    """Unique name of the run."""
    sut: str
    """Name of the system under test."""
    title: str
    driver: str
    system: str
    """What it is, as its driver tells: "2 compute nodes, vxlan, …"."""
    started_at: str
    finished_at: str | None = None
    seconds: float = 0.0
    interrupted: bool = False
    spec_sha256: str
    """Of the file, with all defaults filled in."""
    spec: dict[str, Any]
    fidelity: list[str] = []
    """What it says of other clouds, in sentences."""
    fingerprint: Fingerprint | None = None
    """The machine on which this ran."""
    suites: list[SuiteResult] = []

    def verdicts(self) -> list[Verdict]:
        """Of all suites."""
        return [verdict for suite in self.suites for verdict in suite.verdicts]


def verification_schema() -> dict[str, Any]:
    """Its JSON Schema."""
    return document_schema(Verification, f"Weir verification, version {VERIFICATION_VERSION}")
