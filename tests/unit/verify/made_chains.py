# SPDX-License-Identifier: Apache-2.0
"""A cloud that is made up and builds chains: each is a simulated device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tests.simulated.device import Response
from tests.simulated.tester import Misbehaviour, SimulatedDut, simulated_traffic
from weir.base.error import FabricError
from weir.lab.delay import LatencyOptions
from weir.lab.performance import ChainTraffic, Performance
from weir.lab.sla import Sla
from weir.lab.sut import SutFile, SutSla
from weir.measure import Traffic, no_counters
from weir.measure.one_case import OnChain, Time
from weir.results.result import Ceiling
from weir.results.verification import Verification
from weir.verify.driver import ChainWanted, CleanUp, CloudError
from weir.verify.suites import SUITES

from .made import MadeCloud, verified

CAPACITY_PPS = 20_000.0
"""Of one instance; two in a row carry half."""


@dataclass
class MadeChains(MadeCloud):
    """What each of them does wrong."""

    wrong: Misbehaviour = field(default_factory=Misbehaviour)
    lacked: str = "sr-iov"
    nothing_comes: str = ""
    gone: str = ""
    """As it says when a chain cannot be loaded any more,"""
    gone_at_load: int = 1
    """with this traffic, of those that it is loaded with."""
    ceiling_pps: float = 1e6
    built: list[ChainWanted] = field(default_factory=list)
    measured_alone: int = 0
    stays_alone: str = ""
    """Of what was built to measure the tester alone, when Ctrl-C comes."""

    def require_tester(self) -> None:
        if self.lacks:
            raise FabricError(self.lacks)

    def cannot_build(self, wanted: ChainWanted) -> str | None:
        return f"it has no {self.lacked}" if wanted.uses(self.lacked) else None

    def chain_needs(self) -> Sequence[str]:
        return (f"no {self.lacked}",)

    def tester_alone(self, performance: Performance) -> Mapping[str, Ceiling]:
        self.measured_alone += 1
        if self.stays_alone:
            error = KeyboardInterrupt()
            CleanUp(not_removed=self.stays_alone).told_by(error)
            raise error
        one = Ceiling(
            max_pps=self.ceiling_pps, latency_floor_us=5, timestamp_resolution_ns=1, limited_by="it"
        )
        return {str(frame): one for frame in performance.traffic.frames}

    @contextmanager
    def chain(self, wanted: ChainWanted, within_s: float) -> Iterator[MadeChain]:
        assert within_s > 0
        self.built.append(wanted)
        if self.nothing_comes:
            raise CloudError(self.nothing_comes)
        self.standing += 1
        yield MadeChain(self, wanted)
        self.standing -= 1


@dataclass
class MadeChain:
    cloud: MadeChains
    wanted: ChainWanted

    datapath: str = "a simulated device"
    fidelity: Sequence[str] = ("It has no packets.",)
    bring_up_s: float = 0.1
    loads: int = 0

    def traffic(self, frame: str, flows: int) -> Traffic:
        return replace(simulated_traffic(), frame=frame, mean_frame_bytes=float(frame), flows=flows)

    def measured(self, ceilings: Mapping[str, Ceiling], sla: Sla) -> OnChain:
        self.loads += 1
        if self.cloud.gone and self.loads == self.cloud.gone_at_load:
            raise CloudError(self.cloud.gone)
        capacity_pps = CAPACITY_PPS / self.wanted.instances
        dut = SimulatedDut(
            Response(capacity_pps, capacity_pps), tester_max_pps=1e6, wrong=replace(self.cloud.wrong)
        )
        return OnChain(
            dut, no_counters, lambda _event: None, ceilings, timing=Time(dut.clock, dut.sleep), sla=sla
        )


ALL = ChainTraffic(frames=("64", "1518"), flows=(1, 10))
ONE = ChainTraffic(frames=("64",))


def sut(
    sla: Sla | None = None, techniques: Sequence[str] = ("generic",), traffic: ChainTraffic = ONE
) -> SutFile:
    """Of both chains."""
    return SutFile(
        weir=1,
        name="made",
        performance=Performance(
            techniques=tuple(techniques),
            traffic=traffic,
            latency=LatencyOptions(loads=("50% PDR",), duration_s=1, settle_s=0),
        ),
        sla=SutSla(chains=sla or Sla()),
    )


def loaded(cloud: MadeChains, file: SutFile | None = None) -> Verification:
    """The suite."""
    file = file or sut()
    return verified(cloud, file, [SUITES["performance"].of(file)])
