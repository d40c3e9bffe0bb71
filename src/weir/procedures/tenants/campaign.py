# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a lab of tenants: one cloud is built, measured for each number of tenants that send at once,
and taken down."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from weir import fabric, plan
from weir.base.cloud import CloudTopology
from weir.fabric import stop_signals
from weir.lab.frames import mean_frame_bytes
from weir.lab.tenants import TenantsFile
from weir.measure import Traffic, ceilings
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.one_case import Event, OnChain, TrialFinished, measured
from weir.measure.tester import Stream
from weir.plan.cloud.loopback import loopback_lab
from weir.plan.cloud.tester import tenant_streams
from weir.procedures.campaign import CampaignProgress
from weir.procedures.driver import new_id, planned, running, take_down_leftovers
from weir.procedures.stored_result import new_result
from weir.procedures.tenants.case import TenantsCase
from weir.procedures.tenants.fidelity import fidelity
from weir.procedures.tenants.standing import RunningCloud, standing_cloud
from weir.protocol import DataPlaneTester
from weir.results.result import Ceiling, Result, Setup
from weir.store.store import Store


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
        self._quick = quick
        self._store = store
        self._progress = progress
        self._state = MachineState(store.machine_best(fabric.boot_id(), fabric.weir_version()))

    def run(self) -> Result:
        """Measures all of it. Ctrl-C: what was finished, marked interrupted. FabricError, DataPlaneError."""
        with stop_signals.held():
            take_down_leftovers(self._progress.say)
            began = time.monotonic()
            result = new_result(self._tenants, quick=self._quick, baseline=self._clouds[0].security)
            self._store.begin(result)
            frames = [str(frame) for frame in self._tenants.traffic.frames]
            self._progress.planned(len(self._clouds) * len(self._tenants.sending()) * len(frames))
            try:
                self._progress.setup("the tester alone")
                alone = self._alone(frames)
                for topology in self._clouds:
                    stop_signals.check()
                    self._progress.setup(topology.security)
                    with standing_cloud(self._tenants, topology) as on:
                        for sending in self._tenants.sending():
                            stop_signals.check()
                            self._measure(result, on, sending, frames, alone)
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

    def _alone(self, frames: Sequence[str]) -> dict[str, Ceiling]:
        """What the tester can do over sockets of the same kind."""
        lab = loopback_lab(self._tenants, self._clouds[0], frames)
        (technology,) = lab.technology
        wire = plan.loopback(planned(lab, technology, lab.chains()[0]), new_id(lab))
        with running(lab, wire) as loop:
            return ceilings(
                self._wanted.of_searches(),
                [loop.traffic(frame) for frame in frames],
                loop.tester(),
                self._progress.event,
                watched=Watched(loop.cores, self._state),
            )

    def _measure(
        self,
        result: Result,
        on: RunningCloud,
        sending: int,
        frames: Sequence[str],
        alone: dict[str, Ceiling],
    ) -> None:
        """All frames, sent by so many tenants."""
        tenants = [network.name for network in on.topology.networks]
        setup = Setup(
            technology=on.topology.security,
            chain=f"{sending} of {len(tenants)}",
            datapath=on.cloud.datapath(),
            fidelity=fidelity(on.topology, on.cloud.datapath()),
            bring_up_s=on.bring_up_s,
        )
        versions = {"dpdk": on.hello.dpdk} | on.deployment.versions()
        result.fingerprint = fabric.fingerprint(on.hello.tsc_hz, on.hello.memory, versions)
        result.setups.append(setup)
        self._store.update(result)
        number = self._store.add_setup(result.id, setup)
        self._progress.setup(f"{setup.chain} tenants send, {setup.technology}")

        def on_event(event: Event) -> None:
            if isinstance(event, TrialFinished):
                self._store.add_trial(number, event.frame, event.mean_frame_bytes, event.trial)
            self._progress.event(event)

        chain = OnChain(
            DataPlaneTester(on.client, on.topology.outside_cores()),
            on.cloud.counters,
            on_event,
            alone,
            watched=Watched(on.cores, self._state),
            failed=on.deployment.keep_logs,
        )
        for frame in frames:
            traffic = self._traffic(on.topology, frame, sending)
            for case in measured(TenantsCase(self._wanted, traffic, chain, tenants[:sending], len(tenants))):
                setup.cases.append(case)
                self._store.add_case(number, case)
                self._progress.case(case)

    def _traffic(self, topology: CloudTopology, frame: str, sending: int) -> Traffic:
        config = tenant_streams(topology, self._tenants, frame, sending)
        streams = tuple(
            Stream(one.id, "left-to-right", one.port, one.to) for one in config.streams if one.to is not None
        )
        return Traffic(frame, mean_frame_bytes(frame), config, streams, self._tenants.traffic.flows)
