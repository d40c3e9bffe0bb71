# SPDX-License-Identifier: Apache-2.0
"""The tester of a chain that is replayed: a simulated device is in the place of its network and servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut
from weir.base.topology import Topology
from weir.fabric.deployment import NotGoneError
from weir.measure import no_counters
from weir.measure.machine_state import MachineState
from weir.plan.attached import PORT
from weir.protocol.ledger import Ledger, PortLedger
from weir.protocol.traffic_results import TrafficResult
from weir.verify.drivers.openstack.chain import Attached

CAPACITY_PPS = 5_000.0


class Hidden(SimulatedDut):
    """Of which the tester's ledger knows nothing, as of a cloud."""

    sent, returned = 0, 0
    """In all its runs."""

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        self.sent += sum(one.offered for one in result.streams)
        self.returned += sum(one.delivered for one in result.streams)
        return result.model_copy(update={"receivers": ()})

    def ledger(self) -> Ledger:
        return super().ledger().model_copy(update={"areas": (), "ports": (PortLedger(name=PORT),)})


@dataclass
class MadeTester:
    """And what it was attached to; `counters`: whether servers let theirs be read."""

    device: Hidden = field(default_factory=lambda: Hidden(Response(CAPACITY_PPS, CAPACITY_PPS, 32)))
    counters: bool = True
    topologies: list[Topology] = field(default_factory=list)
    interfaces: list[str] = field(default_factory=list)
    sessions: int = 0
    """That are open."""
    attached: int = 0
    stays: str = ""
    """What a deployment says of which not all goes."""

    @contextmanager
    def attach(self, topology: Topology, interface: str, state: MachineState) -> Iterator[Attached]:
        del state
        self.topologies.append(topology)
        self.interfaces.append(interface)
        self.attached += 1
        try:
            yield Attached(self.device, no_counters)
        finally:
            self.attached -= 1
            if self.stays:
                raise NotGoneError(self.stays, "mend that and destroy again")

    def session(self, to: str, **how: Any) -> Shell:
        assert to.startswith("198.51.100.")
        assert how["user"] == "root"
        self.sessions += 1
        return Shell(self)


@dataclass
class Shell:
    """Of a server that forwards what the device gives back."""

    tester: MadeTester

    def said(self, command: str, within_s: float) -> str:
        assert "statistics" in command
        assert within_s > 0
        device = self.tester.device
        return f"{device.sent}\n{device.returned}\n" if self.tester.counters else "0\n0\n"

    def close(self) -> None:
        self.tester.sessions -= 1
