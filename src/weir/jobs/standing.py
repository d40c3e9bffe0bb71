# SPDX-License-Identifier: Apache-2.0
"""A setup of a campaign: what its rounds measured, and what they say together."""

from __future__ import annotations

from dataclasses import dataclass, field

from weir.lab import Chain
from weir.lab.sla import Sla
from weir.lab.ways import Way
from weir.measure.machine_state import MachineState
from weir.measure.rounds import joined
from weir.results.result import Case, Setup


@dataclass
class Standing:
    """A setup with its number in the store, and what each round measured of each frame size."""

    way: Way
    chain: Chain
    setup: Setup
    number: int
    rounds: dict[str, list[Case]] = field(default_factory=dict)

    def add(self, case: Case, sla: Sla | None, state: MachineState) -> Case:
        """The case of all rounds so far, which the setup has from now on."""
        self.rounds.setdefault(case.frame, []).append(case)
        return self.judge(case.frame, sla, state)

    def judge(self, frame: str, sla: Sla | None, state: MachineState) -> Case:
        """The same with what is known of the machine by now."""
        known = self.rounds[frame]
        for case in known:
            for found in case.throughput:
                found.farther_times = state.farther_times(found.distances_cycles)
        whole = joined(known, sla) if len(known) > 1 else known[0]
        for at, one in enumerate(self.setup.cases):
            if one.frame == frame:
                self.setup.cases[at] = whole
                break
        else:
            self.setup.cases.append(whole)
        return whole

    def worse(self) -> list[str]:
        """Frame sizes that were only measured in a worse state of the machine than the rest."""
        return [
            case.frame for case in self.setup.cases if any(found.worse_state for found in case.throughput)
        ]
