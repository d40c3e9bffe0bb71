# SPDX-License-Identifier: Apache-2.0
"""`weir migrate`, from a lab to a stored result: deploy, load, migrate, load, destroy."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any

from weir.base.error import ChainError, WeirError
from weir.base.topology import Topology, migratable
from weir.fabric import stop_signals
from weir.fabric.vm.lacking import lacking_failover
from weir.fabric.vm.migration import Limits
from weir.fabric.vm.migration import Migration as Machine
from weir.lab import Chain, Lab
from weir.lab.frames import CAPTURE
from weir.measure.preflight import nothing_comes
from weir.measure.tester import ANNOUNCE_FRAMES
from weir.measure.trial import TrialRunner
from weir.procedures.driver import RunningChain, planned, refusal, running
from weir.procedures.migration.course import REPLUG_S, Course, wait_for_primaries
from weir.procedures.migration.phases import phases
from weir.procedures.stored_case import StoredCase
from weir.procedures.stored_result import Progress, new_result
from weir.protocol.looking_tester import LookingTester
from weir.results.migration import Migration, QemuFigures
from weir.results.result import Case, Result, Setup
from weir.store.open_case import OpenCaseStore

LOOK_S = 0.1
STAND_IN = "an emulated card (vmxnet3), which stands for a virtual function"


class MigrationError(WeirError):
    """Nothing can be migrated; says why and what to do."""


@dataclass(frozen=True)
class MigrationSettings:
    """What is to be migrated, and how."""

    technology: str
    variant: str | None
    """Of the lab; None: it has none."""
    chain: Chain
    node: str
    """The function's place in the chain: "f1"."""
    frame: str
    load: str
    """As it was asked for."""
    load_pps: float
    """Both directions together."""
    settle_s: float
    """Traffic before the migration and after it."""
    time_limit_s: float
    """A migration that takes longer is cancelled."""
    downtime_limit_ms: int
    bandwidth_bps: float | None


class MigrationRun:
    """One migration of one function of a lab's chain."""

    def __init__(self, lab: Lab, *, quick: bool, store: OpenCaseStore, progress: Progress) -> None:
        self._lab = lab
        self._quick = quick
        self._store = store
        self._progress = progress

    def run(self, settings: MigrationSettings) -> Result:
        """Ctrl-C ends it with what is there. MigrationError: this machine, or this guest, cannot do it."""
        name = settings.variant or settings.technology
        result = new_result(self._lab, quick=self._quick, baseline=name, kind="-migration")
        lacking = refusal(self._lab, settings.technology, settings.chain)
        capture = self._lab.traffic.capture
        if settings.frame == CAPTURE and capture is not None and not capture.stamp:
            raise MigrationError(
                "frames without a stamp do not tell when one was lost: traffic.capture.stamp"
            )
        missing = lacking_failover() if lacking is None else (lacking.missing, lacking.fix)
        if missing is not None:
            raise MigrationError(f"this machine cannot do it: {': '.join(missing)}")
        topology = migratable(planned(self._lab, settings.technology, settings.chain), settings.node)
        one = StoredCase.begun(
            self._store,
            result,
            technology=settings.technology,
            variant=settings.variant,
            chain=settings.chain.name,
            frame=settings.frame,
        )
        one.case.migration = Migration(
            function=next(one.function for one in topology.functions() if one.name == settings.node),
            node=settings.node,
            load=settings.load,
            load_pps=settings.load_pps,
            downtime_limit_ms=settings.downtime_limit_ms,
            bandwidth_bps=settings.bandwidth_bps,
            primary=STAND_IN,
        )
        self._store.add_interval(one.place, one.case)  # a killed run shows what it was about
        self._progress.setup(one.setup.title)
        with one.measured(self._progress.say):
            self._migrated(result, one.setup, one.case, settings, topology)
        return result

    def _migrated(
        self, result: Result, setup: Setup, case: Case, settings: MigrationSettings, topology: Topology
    ) -> None:
        assert case.migration is not None
        case.migration.status = "not begun"
        with running(self._lab, topology) as chain:
            chain.describe(setup)
            setup.fidelity += [
                f"The primary devices of {settings.node} are {STAND_IN}.",
                "Both QEMUs are on this machine: memory goes through a socket, and through no network.",
            ]
            result.fingerprint = chain.fingerprint()
            deployment = chain.deployment
            with closing(Machine(deployment.run_dir, settings.node, deployment.processes())) as machine:
                self._progress.say(f"waits until the guest has its primaries up, {REPLUG_S:g} s at most")
                wait_for_primaries(machine)
                machine.announce(primaries=True)
                chain.tester().announce(ANNOUNCE_FRAMES)
                result.interrupted = self.under_load(case, settings, chain, machine)

    def under_load(
        self, case: Case, settings: MigrationSettings, chain: RunningChain, machine: Machine
    ) -> bool:
        """The migration, if packets come through before it. True: Ctrl-C ended it."""
        record, options = case.migration, self._lab.measure.trial
        assert record is not None
        client, traffic, tester = chain.client, chain.traffic(settings.frame), chain.tester()
        tester.configure_traffic(traffic.config)
        record.why = nothing_comes(
            TrialRunner(tester, chain.counters, traffic, options=options, on_trial=case.trials.append),
            record.load_pps,
        )
        if record.why is not None:
            record.status = "failed"
            return False
        bandwidth = settings.bandwidth_bps
        course = Course(
            machine,
            client,
            Limits(settings.downtime_limit_ms, None if bandwidth is None else round(bandwidth / 8)),
            settle_s=settings.settle_s,
            time_limit_s=settings.time_limit_s,
            say=self._progress.say,
        )
        runner = TrialRunner(
            LookingTester(client, LOOK_S, course.look, course.wait),
            chain.counters,
            traffic,
            options=options,
            on_trial=case.trials.append,
        )
        with stop_signals.held():
            try:
                trial = runner.run("migration", record.load_pps, course.longest_s).trial
                record.faults = trial.invalid_because
            except ChainError as error:
                chain.deployment.keep_logs(error)
                record.faults = [str(error)]
            if course.interrupted:
                stop_signals.discard()
        record.status, record.why, record.restored = course.status, course.why, course.restored
        if course.looks:
            rate_pps = record.load_pps / len(traffic.streams)
            record.phases = phases(course.looks, course.cuts(), traffic.streams, rate_pps)
        if record.status == "completed":
            record.qemu = _figures(machine.figures())
        return course.interrupted


def _figures(said: dict[str, Any]) -> QemuFigures:
    memory = said["ram"]
    return QemuFigures(
        total_ms=said["total-time"],
        downtime_ms=said["downtime"],
        setup_ms=said["setup-time"],
        transferred_bytes=memory["transferred"],
        memory_bytes=memory["total"],
        rounds=memory["dirty-sync-count"],
    )
