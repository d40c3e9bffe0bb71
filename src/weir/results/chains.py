# SPDX-License-Identifier: Apache-2.0
"""Chains of a cloud's instances that the tester loaded: one for each frame size and number of flows."""

from __future__ import annotations

from weir.base.record import Record
from weir.results.result import Case, Trial
from weir.results.trial import Doubted, Drop

_UNBALANCED: frozenset[Doubted] = frozenset({"held", "accounting"})
"""Doubts of a trial whose account is not closed, does not balance, or has packets of an earlier one."""


class ChainLoad(Record):
    """One chain, under one traffic."""

    chain: str
    """PVP or PVVP."""
    technique: str
    """How it was built: "generic", "pinned+hugepages"."""
    vcpus: int = 0
    """Of each instance; 0: as it comes."""
    flows: int
    datapath: str
    """What switches."""
    fidelity: list[str] = []
    """What the numbers rest on, in sentences."""
    bring_up_s: float
    """Time until the chain let packets through."""
    case: Case
    """What was measured: rates, delays, all trials, and what the service level says of them. Trials without
    their slices."""

    @property
    def title(self) -> str:
        """ "PVP generic, 2 vCPU, 64 B, 100 flows"."""
        cpus = [f"{self.vcpus} vCPU"] if self.vcpus else []
        frame = f"{self.case.frame} B" if self.case.frame.isdigit() else self.case.frame
        flows = "1 flow" if self.flows == 1 else f"{self.flows} flows"
        return ", ".join([f"{self.chain} {self.technique}", *cpus, frame, flows])

    def all_trials(self) -> list[Trial]:
        """Valid or not."""
        return [*self.case.trials, *(trial for point in self.case.delays for trial in point.trials)]

    def ledger(self) -> ChainLedger:
        """Of all trials that may be used."""
        used = [trial for trial in self.all_trials() if trial.valid]
        lost: dict[tuple[str, str], int] = {}
        for drop in (drop for trial in used for drop in trial.drops):
            lost[drop.place, drop.reason] = lost.get((drop.place, drop.reason), 0) + drop.packets
        return ChainLedger(
            trials=len(used),
            not_used=len(self.all_trials()) - len(used),
            unbalanced=sum(not _UNBALANCED.isdisjoint(trial.doubted) for trial in self.all_trials()),
            offered=sum(trial.offered for trial in used),
            delivered=sum(trial.delivered for trial in used),
            lost=[
                Drop(place=place, reason=reason, packets=packets)
                for (place, reason), packets in sorted(lost.items(), key=lambda one: -one[1])
            ],
            residual=sum(trial.unaccounted for trial in used),
        )


class ChainLedger(Record):
    """`offered` = `delivered` + Σ `lost` + `residual`."""

    trials: int
    """That may be used."""
    not_used: int
    unbalanced: int
    """Of those, trials whose packets were not all accounted for, or came behind those of an earlier one."""
    offered: int
    delivered: int
    lost: list[Drop]
    """Most first."""
    residual: int
