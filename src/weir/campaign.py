# SPDX-License-Identifier: Apache-2.0
"""The main job, from a lab to a stored result: deploy, measure, destroy.

The one place that knows fabric, data plane, measure and store together; none of them knows the others.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from datetime import UTC, datetime
from typing import Protocol

from weir import __version__, fabric, plan
from weir.built import built
from weir.dataplane import DataPlaneError, DataPlaneTester
from weir.fabric import interrupts
from weir.measure import Traffic, ceilings, measure_setup
from weir.measure.events import Event, TrialFinished
from weir.spec import Chain, Lab
from weir.spec.frames import mean_frame_bytes
from weir.spec.topology import Topology
from weir.store import Store
from weir.store.result import Case, Ceiling, Result, Setup


class Progress(Protocol):
    """Whoever shows where the run is."""

    def say(self, text: str) -> None: ...
    def setup(self, name: str) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


class Campaign:
    """One run of a lab."""

    def __init__(self, lab: Lab, *, quick: bool, store: Store, progress: Progress) -> None:
        self._lab = lab
        self._quick = quick
        self._store = store
        self._progress = progress
        # By port kind: they are the tester's, not the switch's.
        self._ceilings: dict[str, dict[str, Ceiling]] = {}
        self._versions: dict[str, str] = {}

    def run(self) -> Result:
        """Measures everything that can be measured here. Ctrl-C: what was finished, marked interrupted.

        Ctrl-C ends a trial at once, but waits for a step of building or taking down; a second one changes
        nothing.
        """
        with interrupts.held():
            for name in fabric.clean_leftovers():
                self._progress.say(f"took down {name}, which a killed run had left")
            began = time.monotonic()
            result = self._begin()
            self._store.begin(result)
            try:
                for technology in self._lab.technology:
                    for chain in self._lab.chains():
                        interrupts.check()
                        self._setup(result, technology, chain)
            except KeyboardInterrupt:
                result.interrupted = True
                self._progress.say(
                    f"interrupted: took everything down; what was finished is in {self._store.name}"
                )
                interrupts.settle()
            result.finished_at = _now()
            result.seconds = round(time.monotonic() - began, 1)
            self._store.update(result)
        return result

    def _begin(self) -> Result:
        spec = self._lab.model_dump(mode="json")
        digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()
        return Result(
            weir=__version__,
            id=f"{self._lab.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
            lab=self._lab.name,
            title=self._lab.title or self._lab.name,
            quick=self._quick,
            spec_sha256=digest,
            seed=self._lab.measure.seed,
            started_at=_now(),
            baseline=self._lab.baseline or self._lab.technology[0],
            fingerprint=fabric.fingerprint(0, "unknown", {}),
            spec=spec,
        )

    def _setup(self, result: Result, technology: str, chain: Chain) -> None:
        self._progress.setup(f"{technology} {chain.name}")
        setup = Setup(technology=technology, chain=chain.name, datapath="none")
        result.setups.append(setup)
        refusal = fabric.check(technology, self._lab.options(technology))
        if refusal is not None:
            setup.refused = f"{refusal.missing}: {refusal.fix}"
        number = self._store.add_setup(result.id, setup)
        if refusal is not None:
            self._progress.say(f"{technology} {chain.name}: refused: {setup.refused}")
            return
        topology = self._topology(technology, chain)
        try:
            found = self._calibrated(topology)
            self._measure(result, setup, number, topology, found)
        except (fabric.FabricError, DataPlaneError, plan.PlanError) as error:
            if not setup.cases:
                setup.refused = str(error)
            self._progress.say(f"{technology} {chain.name}: given up: {error}")
            if isinstance(error.__context__, KeyboardInterrupt):  # taking down failed after Ctrl-C
                raise error.__context__ from error
        finally:
            self._store.update_setup(number, setup)

    def _topology(self, technology: str, chain: Chain) -> Topology:
        deployment = plan.deployment_id(self._lab.name, secrets.token_hex(4))
        return plan.build_topology(self._lab, technology, chain, deployment)

    def _traffic(self, topology: Topology) -> list[Traffic]:
        return [
            Traffic.from_config(
                str(frame), mean_frame_bytes(str(frame)), plan.streams(topology, self._lab, str(frame))
            )
            for frame in self._lab.traffic.frames
        ]

    def _calibrated(self, topology: Topology) -> dict[str, Ceiling]:
        """The tester's own ceilings over the same kind of port, measured once a run."""
        kind = topology.ports[0].kind
        if kind not in self._ceilings:
            deployment = plan.deployment_id(self._lab.name, secrets.token_hex(4))
            loop = plan.loopback(topology, deployment)
            with built(self._lab, loop) as (_, client, _hello):
                self._ceilings[kind] = ceilings(
                    self._lab.measure, self._traffic(loop), DataPlaneTester(client), self._progress.event
                )
        return self._ceilings[kind]

    def _measure(
        self, result: Result, setup: Setup, number: int, topology: Topology, found: dict[str, Ceiling]
    ) -> None:
        began = time.monotonic()
        with built(self._lab, topology) as (deployment, client, hello):
            setup.bring_up_s = round(time.monotonic() - began, 3)
            setup.topology = topology
            setup.datapath = deployment.datapath()
            setup.fidelity = fabric.fidelity(
                topology,
                self._lab.options(topology.technology),
                datapath=setup.datapath,
                memory=hello.memory,
            )
            self._versions |= {"dpdk": hello.dpdk} | deployment.versions()
            result.fingerprint = fabric.fingerprint(hello.tsc_hz, hello.memory, self._versions)
            self._store.update_setup(number, setup)
            self._store.update(result)

            def on_event(event: Event) -> None:
                if isinstance(event, TrialFinished):
                    self._store.add_trial(number, event.frame, event.mean_frame_bytes, event.trial)
                self._progress.event(event)

            cases = measure_setup(
                self._lab.measure,
                self._traffic(topology),
                DataPlaneTester(client),
                counters=lambda: deployment.counters(
                    {port.name: port.rx_packets for port in client.ledger().ports}
                ),
                ceilings=found,
                on_event=on_event,
                sla=self._lab.sla,
                outside=deployment.watch(sample_stacks=self._lab.measure.sample_stacks),
            )
            for case in cases:
                setup.cases.append(case)
                self._store.add_case(number, case)
                self._progress.case(case)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
