# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a lab of tenants: one cloud is built, measured for each number of tenants that send at once,
and taken down."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from weir import fabric, plan
from weir.base.cloud import CloudTopology
from weir.base.started import boot_id
from weir.fabric import stop_signals
from weir.lab.frames import mean_frame_bytes
from weir.lab.tenants import TenantsFile
from weir.measure import Traffic, ceilings
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.one_case import Event, OnChain, TrialFinished, measured
from weir.measure.tester import Stream
from weir.plan.cloud.loopback import loopback_lab
from weir.plan.cloud.routers import ROUTERS
from weir.plan.cloud.tester import direction_of, tenant_streams
from weir.procedures.driver import new_id, planned, running, take_down_leftovers
from weir.procedures.stored_result import CampaignProgress, new_result
from weir.procedures.tenants.case import TenantsCase
from weir.procedures.tenants.clouds import called, variant
from weir.procedures.tenants.fidelity import fidelity
from weir.procedures.tenants.standing_cloud import RunningCloud, standing_cloud
from weir.procedures.tenants.tcp import tcp_case
from weir.protocol import DataPlaneTester
from weir.protocol.traffic import TrafficConfigure
from weir.results.result import Case, Ceiling, Result, Setup
from weir.results.tenants import Tenants, TenantsTcp
from weir.store.store import Store


class _Round(NamedTuple):
    """So many tenants that send, in one cloud."""

    sending: int
    setup: Setup
    number: int  # of the setup in the store


class TenantsCampaign:
    """One run of such a lab. `clouds`: what is built, one after the other, each of `measured_topology`."""

    def __init__(
        self,
        tenants: TenantsFile,
        clouds: Sequence[CloudTopology],
        *,
        quick: bool,
        store: Store,
        progress: CampaignProgress,
    ) -> None:
        self._tenants = tenants
        self._wanted = tenants.measure.in_a_hurry() if quick else tenants.measure
        self._clouds = tuple(clouds)
        self._frames = [str(frame) for frame in tenants.traffic.frames]
        self._quick = quick
        self._store = store
        self._progress = progress
        self._state = MachineState(store.machine_best(boot_id(), fabric.weir_version()))

    def run(self) -> Result:
        """Measures all of it. Ctrl-C: what was finished, marked interrupted. FabricError, DataPlaneError."""
        with stop_signals.held():
            take_down_leftovers(self._progress.say)
            began = time.monotonic()
            result = new_result(self._tenants, quick=self._quick, baseline=self._named(self._clouds[0]))
            self._store.begin(result)
            per_cloud = len(self._frames) + (self._wanted.tcp is not None)
            self._progress.planned(len(self._clouds) * len(self._tenants.sending()) * per_cloud)
            try:
                self._progress.setup("the tester alone")
                alone = self._alone()
                for topology in self._clouds:
                    stop_signals.check()
                    self._progress.setup(self._named(topology))
                    with standing_cloud(topology, self._first(topology)) as on:
                        self._measure(result, on, alone)
            except KeyboardInterrupt:
                result.interrupted = True
                self._progress.say(
                    f"interrupted: took everything down; what was finished is in {self._store.name}"
                )
                stop_signals.discard()
            result.machine = self._state.seen()
            result.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
            result.seconds = round(time.monotonic() - began, 1)
            self._store.update(result)
        return result

    def _alone(self) -> dict[str, Ceiling]:
        """What the tester can do over sockets of the same kind."""
        tenants, tester = self._tenants, self._clouds[0].tester
        assert tester is not None
        lab = loopback_lab(tenants.name, tester, tenants.traffic.flows, self._frames)
        (technology,) = lab.technology
        wire = plan.loopback(planned(lab, technology, lab.chains()[0]), new_id(lab))
        with running(lab, wire) as loop:
            return ceilings(
                self._wanted.of_searches(),
                [loop.traffic(frame) for frame in self._frames],
                loop.tester(),
                self._progress.event,
                watched=loop.watched(self._state),
            )

    def _first(self, topology: CloudTopology) -> TrafficConfigure:
        assert topology.tester is not None
        return tenant_streams(topology, self._tenants, self._frames[0], len(topology.tester.senders))

    def _measure(self, result: Result, on: RunningCloud, alone: dict[str, Ceiling]) -> None:
        """All numbers of tenants, first by the tester, then over TCP."""
        rounds = []
        for sending in self._tenants.sending():
            stop_signals.check()
            rounds.append(self._begin(result, on, sending))
            self._send(on, rounds[-1], alone)
        if self._wanted.tcp is None:
            return
        if ROUTERS[on.topology.router].in_data_plane is None:
            on.client.stop()
        for one in rounds:
            stop_signals.check()
            self._progress.setup(f"{one.setup.chain} tenants send, {one.setup.name}")
            record = TenantsTcp(**_senders(on, one.sending), **self._wanted.tcp.model_dump())
            self._finish(one, tcp_case(on, self._wanted.tcp, self._wanted.repeats, record))

    def _begin(self, result: Result, on: RunningCloud, sending: int) -> _Round:
        setup = Setup(
            technology=on.topology.security,
            variant=variant(self._tenants, on.topology),
            chain=f"{sending} of {len(on.topology.tenant_networks)}",
            datapath=on.cloud.datapath(),
            fidelity=fidelity(on.topology, on.cloud.datapath()),
            bring_up_s=on.bring_up_s,
        )
        versions = {"dpdk": on.hello.dpdk} | on.deployment.versions()
        result.fingerprint = fabric.fingerprint(on.hello.tsc_hz, on.hello.memory, versions)
        result.setups.append(setup)
        self._store.update(result)
        return _Round(sending, setup, self._store.add_setup(result.id, setup))

    def _send(self, on: RunningCloud, this: _Round, alone: dict[str, Ceiling]) -> None:
        """All frames, sent by so many tenants."""
        self._progress.setup(f"{this.setup.chain} tenants send, {this.setup.name}")

        def on_event(event: Event) -> None:
            if isinstance(event, TrialFinished):
                self._store.add_trial(this.number, event.frame, event.mean_frame_bytes, event.trial)
            self._progress.event(event)

        chain = OnChain(
            DataPlaneTester(on.client, on.topology.outside_cores()),
            on.cloud.counters,
            on_event,
            alone,
            outside=on.cloud.watch(),
            watched=Watched(on.cores, self._state),
            failed=on.deployment.keep_logs,
        )
        for frame in self._frames:
            traffic = self._traffic(on.topology, frame, this.sending)
            behind = self._wanted.background
            record = Tenants(
                **_senders(on, this.sending), background_pps=behind.load if behind is not None else 0.0
            )
            for case in measured(TenantsCase(self._wanted, traffic, chain, record)):
                self._finish(this, case)

    def _finish(self, this: _Round, case: Case) -> None:
        this.setup.cases.append(case)
        self._store.add_case(this.number, case)
        self._progress.case(case)

    def _named(self, topology: CloudTopology) -> str:
        return called(self._tenants, topology)

    def _traffic(self, topology: CloudTopology, frame: str, sending: int) -> Traffic:
        config = tenant_streams(topology, self._tenants, frame, sending)
        streams = tuple(
            Stream(one.id, direction_of(one), one.port, one.to)
            for one in config.streams
            if one.to is not None
        )
        behind, first_behind = self._wanted.background, sending * len(self._tenants.tester.directions)
        return Traffic(
            frame,
            mean_frame_bytes(frame),
            config,
            streams,
            self._tenants.traffic.flows,
            fixed_pps={one.id: behind.load for one in streams[first_behind:]} if behind is not None else {},
        )


def _senders(on: RunningCloud, sending: int) -> dict[str, Any]:
    """Of a record."""
    networks, tester = on.topology.tenant_networks, on.topology.tester
    assert tester is not None
    return {
        "directions": list(tester.directions),
        "tenants": [one.name for one in networks[:sending]],
        "standing": len(networks),
        "through": {one.name: list(on.topology.through(one)) for one in networks[:sending]},
    }
