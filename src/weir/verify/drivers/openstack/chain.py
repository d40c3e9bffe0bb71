# SPDX-License-Identifier: Apache-2.0
"""A chain of a cloud's servers that stands, and the tester at both its ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass

from weir import plan
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.fabric.cloud.deployed import deployed_cloud
from weir.lab.frames import mean_frame_bytes
from weir.lab.performance import Performance
from weir.lab.sla import Sla
from weir.lab.sut import CloudChains
from weir.measure import SutCounters, Tester, Traffic
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.one_case import OnChain
from weir.measure.outside import Outside
from weir.measure.tester import ANNOUNCE_FRAMES, Stream
from weir.plan.attached import PORT, attached_configuration, attached_steps, attached_streams
from weir.procedures.tenants.standing_cloud import first_packets
from weir.protocol import DataPlaneClient, DataPlaneTester
from weir.results.result import Ceiling

from . import chain_sentences
from .chain_building import StandingChain
from .chain_counts import ChainCounters, CountedFunction, SummingTester
from .connection import Deadline

_TRY_S = 1.25
"""Of a few first packets, with the wait for them."""
_FEWEST_TRIES = 4


@dataclass(frozen=True)
class Attached:
    """The tester of a chain, which polls."""

    tester: Tester
    counters: SutCounters
    """Of its own interface."""
    outside: Outside | None = None
    watched: Watched | None = None
    failed: Callable[[Exception], None] = lambda _error: None


Attach = Callable[[Topology, str, MachineState], AbstractContextManager[Attached]]


@contextmanager
def attached(topology: Topology, interface: str, state: MachineState) -> Iterator[Attached]:
    """For the body: weir-dp, at a device of its own on an interface of this host. FabricError,
    DataPlaneError."""
    with (
        deployed_cloud(attached_steps(topology, interface), topology) as deployment,
        stop_signals.allowed(),
        closing(deployment.core_watch()) as cores,
        DataPlaneClient(deployment.run_dir / plan.SOCKET) as client,
    ):
        client.hello()
        client.configure(attached_configuration(topology))
        client.start()
        yield Attached(
            DataPlaneTester(client),
            lambda: deployment.counters({one.name: one.rx_packets for one in client.ledger().ports}),
            deployment.watch(),
            Watched(cores, state),
            deployment.keep_logs,
        )


@dataclass(frozen=True)
class Surroundings:
    """What of a chain is known before a packet has come through it."""

    chains: CloudChains
    performance: Performance
    topology: Topology
    """Of the tester."""
    built: StandingChain
    functions: Sequence[CountedFunction]
    """Whose counters can be read."""


class OpenStackChain:
    """One that stands."""

    bring_up_s = 0.0
    """Until packets came through."""

    def __init__(self, on: Attached, around: Surroundings) -> None:
        self._on = on
        self._around = around
        self._tester = SummingTester(on.tester)
        self._functions = around.functions
        self._counters = ChainCounters(self._tester, on.counters, self._functions)

    def begin(self, deadline: Deadline) -> None:
        """Until a few packets have come through. Of functions those are counted from then on whose counters
        show them. FabricError where none comes; CloudError."""
        traffic = self._around.performance.traffic
        config = self.traffic(str(traffic.frames[0]), traffic.flows[0]).config
        before = [one.passed() for one in self._functions]
        self._tester.announce(ANNOUNCE_FRAMES)
        tries = _FEWEST_TRIES
        if self._around.chains.image is not None:  # whose servers do not say when they are up
            tries = max(tries, int(deadline.left_s() / _TRY_S))
        fix = "see what its ports' security groups and its network let through, and what its servers say"
        first_packets(self._tester, self._counters, config, tries, fix)
        self._functions = [
            one
            for one, was in zip(self._functions, before, strict=True)
            if one.passed().sent - was.sent >= self._tester.returned
        ]
        self._counters = ChainCounters(self._tester, self._on.counters, self._functions)

    @property
    def datapath(self) -> str:
        """As far as the cloud tells."""
        bound = self._around.built.bound
        return f"the cloud's ({', '.join(bound)})" if bound else "the cloud's, which does not tell what it is"

    @property
    def fidelity(self) -> Sequence[str]:
        """What can be seen, and what cannot."""
        around = self._around
        counted = [one.name for one in self._functions]
        return chain_sentences.fidelity(around.chains, around.topology, list(around.built.macs), counted)

    def traffic(self, frame: str, flows: int) -> Traffic:
        """From the tester to the first server, and from the last one back."""
        around = self._around
        to = next(iter(around.built.macs.values()))
        config = attached_streams(around.topology, to, frame, flows, around.performance.seed)
        streams = (Stream(0, "left-to-right", PORT, PORT),)
        return Traffic(frame, mean_frame_bytes(frame), config, streams, flows)

    def measured(self, ceilings: Mapping[str, Ceiling], sla: Sla) -> OnChain:
        """By weir-dp, with what can be counted on the way."""
        return OnChain(
            self._tester,
            self._counters,
            lambda _event: None,
            ceilings,
            sla=sla,
            outside=self._on.outside,
            watched=self._on.watched,
            failed=self._on.failed,
        )
