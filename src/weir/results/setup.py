# SPDX-License-Identifier: Apache-2.0
"""What was built of one technology and chain, on which machines, and what was measured there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from weir.base.record import Record
from weir.base.topology import Topology
from weir.results.case import Case
from weir.results.fingerprint import Fingerprint


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
    """Responses, ignored since their sender has no association; requests of such are refused (those of older
    results were ignored, and are in here)."""
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


class OtherHost(Record):
    """A host of a chain that spans hosts, which has not the tester."""

    host: str
    """As the lab calls it."""
    nodes: list[str]
    """Of the topology that are there."""
    fingerprint: Fingerprint


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
    other_hosts: list[OtherHost] = []
    """Of a chain that spans hosts: those without the tester, which the result's own fingerprint is not of."""
    refused: str | None = None
    """Why there is nothing of it: what this machine lacks for it, or what failed."""
    failed: bool = False
    """The latter: this machine lacks nothing for it, but it could not be built, or measured."""
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

    @property
    def title(self) -> str:
        """ "linux-bridge PVP"."""
        return f"{self.name} {self.chain}"
