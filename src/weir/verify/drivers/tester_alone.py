# SPDX-License-Identifier: Apache-2.0
"""What the tester of a cloud's chains can do without the cloud, over sockets of the same kind."""

from __future__ import annotations

from collections.abc import Mapping

from weir import plan
from weir.base.cloud import CloudTester
from weir.lab.performance import Performance
from weir.measure import ceilings
from weir.measure.machine_state import MachineState
from weir.plan.cloud.loopback import loopback_lab
from weir.procedures.driver import new_id, planned, running
from weir.results.result import Ceiling
from weir.verify.drivers.local_errors import building, own_cores


class TesterAlone:
    """Of one run: measured once. `state`: the machine's best is of all its trials."""

    def __init__(self, state: MachineState) -> None:
        self._state = state
        self._found: dict[str, Ceiling] | None = None

    def measured(self, name: str, tester: CloudTester, performance: Performance) -> Mapping[str, Ceiling]:
        """By frame. `name`: of what is deployed for it. Its taking down is within its time; the error tells
        what stays."""
        if self._found is None:
            frames = [str(frame) for frame in performance.traffic.frames]
            lab = loopback_lab(name, tester, max(performance.traffic.flows), frames)
            (technology,) = lab.technology
            wire = plan.loopback(planned(lab, technology, lab.chains()[0]), new_id(lab))
            with own_cores(wire), building(lambda: 0.0), running(lab, wire) as loop:
                self._found = ceilings(
                    performance.measured(performance.time_limit_s),
                    [loop.traffic(frame) for frame in frames],
                    loop.tester(),
                    lambda _event: None,
                    watched=loop.watched(self._state),
                )
        return self._found
