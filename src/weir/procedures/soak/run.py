# SPDX-License-Identifier: Apache-2.0
"""`weir soak`, from a lab or an interrupted soak to a stored result: deploy, find the load, soak, destroy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from weir import fabric, plan
from weir.base.error import FAILED, WeirError
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.lab import Chain, Lab
from weir.lab.delay import PAUSE, Load, load_of
from weir.lab.frames import CAPTURE
from weir.measure import ceilings, measure_setup
from weir.measure.delay import load_pps
from weir.measure.one_case import Event, OnChain, PhaseStarted, TrialFinished
from weir.measure.tester import ANNOUNCE_FRAMES, arrival_clocks
from weir.procedures.driver import RunningChain, new_id, planned, refusal, running, take_down_leftovers
from weir.procedures.outputs import OutputKeeper, ReportFolder
from weir.procedures.soak.segment import SoakRun, SoakWatcher, settle_s, soak_of, warm_up
from weir.procedures.stored_case import StoredCase
from weir.procedures.stored_result import new_result
from weir.results.result import Case, Ceiling, Result, Setup
from weir.results.soak import Soak, SoakStep
from weir.store.open_case import OpenCaseStore

LEFT_S_MIN = 1.0


class SoakError(WeirError):
    """The soak cannot begin, or cannot go on; says why and what to do."""

    exit_code = FAILED


@dataclass(frozen=True)
class SoakSettings:
    """What a new soak is to be."""

    technology: str
    variant: str | None
    """Of the lab; None: it has none."""
    chain: Chain
    frame: str
    load: str | None
    """As weir.lab.delay.load_of reads it; None: the lab's schedule."""
    duration_s: float
    interval_s: float


class SoakCampaign:
    """One soak of one chain of a lab."""

    def __init__(
        self,
        lab: Lab,
        *,
        quick: bool,
        store: OpenCaseStore,
        progress: SoakWatcher,
        reports: ReportFolder | None = None,
    ) -> None:
        """`reports`: where what programs say is kept."""
        self._lab = lab
        self._reports = reports
        self._quick = quick
        self._store = store
        self._progress = progress
        self.run_id: str | None = None
        """Of the run, once its load begins: from then on it can be gone on with."""

    def run(self, settings: SoakSettings) -> Result:
        """A new one. Ctrl-C ends it with what is there. SoakError: the load's goal was not found."""
        missing = refusal(self._lab, settings.technology, settings.chain)
        if missing is not None:
            raise SoakError(f"{settings.technology} cannot run here: {missing.missing}: {missing.fix}")
        capture = self._lab.traffic.capture
        if settings.frame == CAPTURE and capture is not None and not capture.stamp:
            raise SoakError(
                "a soak looks at delays, and these frames carry no stamp: set traffic.capture.stamp"
            )
        name = settings.variant or settings.technology
        result = new_result(self._lab, quick=self._quick, baseline=name, kind="-soak")
        one = StoredCase.begun(
            self._store,
            result,
            technology=settings.technology,
            variant=settings.variant,
            chain=settings.chain.name,
            frame=settings.frame,
        )
        case, place = one.case, one.place

        def begin(on: RunningChain, found: Ceiling | None) -> None:
            case.ceiling = found
            steps = self._steps(on, case, settings, place)
            pps = max(step.load_pps for step in steps)
            case.soak = Soak(
                load=settings.load or "schedule",
                load_pps=pps,
                schedule=[] if settings.load else steps,
                duration_s=settings.duration_s,
                interval_s=settings.interval_s,
                settle_s=settle_s(self._lab, settings.duration_s),
                started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )

        return self._through(one, begin)

    def resume(self, result: Result) -> Result:
        """Goes on with a stored one, at the same load, for what is left. SoakError: nothing is."""
        case = soak_of(result)
        if case is None or case.soak is None:
            raise SoakError(
                f"run {result.id} is no soak, or was ended before its load began: begin a new one"
            )
        left_s = case.soak.duration_s - case.soak.measured_s
        if left_s < LEFT_S_MIN:
            raise SoakError(f"run {result.id} has had its {case.soak.duration_s:g} s: nothing is left")
        with stop_signals.held():
            take_down_leftovers(self._progress.say)
        standing = {deployment.id for deployment in fabric.deployments()}
        if standing & {one.deployment for one in case.soak.segments}:
            raise SoakError(f"run {result.id} is being measured by a weir that runs: wait for its end")
        place = self._store.reopen_soak(result.id)
        self.run_id = result.id
        setup = next(one for one in result.setups if case in one.cases)
        result.interrupted, result.finished_at = False, None
        self._progress.say(
            f"going on with {result.id}: {left_s:.0f} s of {case.soak.duration_s:g} s are left"
        )
        one = StoredCase(self._store, result, setup, case, place)
        return self._through(one, lambda _on, _ceiling: None)

    def _through(self, one: StoredCase, begin: Callable[[RunningChain, Ceiling | None], None]) -> Result:
        self._progress.setup(one.setup.title)
        with one.measured(self._progress.say):
            found = self._ceiling(one.setup, one.case) if one.case.soak is None else one.case.ceiling
            self._soaked(one, lambda on: begin(on, found))
        return one.result

    def _soaked(self, one: StoredCase, begin: Callable[[RunningChain], None]) -> None:
        result, setup, case, place = one.result, one.setup, one.case, one.place
        folder = self._reports(result.id) if self._reports is not None else None
        keeper = OutputKeeper(folder, self._progress.say)
        with running(self._lab, self._planned(setup), keeper.of(setup)) as on:
            on.describe(setup)
            if case.soak is None:
                result.fingerprint = on.fingerprint()
            self._store.update_setup(place, setup)
            self._store.update(result)
            on.tester().announce(ANNOUNCE_FRAMES)
            traffic = on.traffic(case.frame)
            case.mean_frame_bytes = traffic.mean_frame_bytes
            begin(on)
            case.clocks = arrival_clocks(on.client.ledger(), traffic.streams)
            run = SoakRun(self._lab, result, case, place, store=self._store, progress=self._progress)
            assert case.soak is not None
            self._progress.event(PhaseStarted(case.frame, "warm-up"))
            warmed = warm_up(on, case.frame, case.soak)
            if warmed.problem is not None:
                run.refuse(on, warmed.problem)
            else:
                self.run_id = result.id
                result.interrupted = run.segment(on, warmed.packets)

    def _planned(self, setup: Setup) -> Topology:
        chain = next(one for one in self._lab.chains() if one.name == setup.chain)
        return planned(self._lab, setup.technology, chain)

    def _steps(self, on: RunningChain, case: Case, settings: SoakSettings, place: int) -> list[SoakStep]:
        """The one load, or those of the schedule; of goals, which are searched for first, or as asked for."""
        schedule = self._lab.measure.soak.schedule
        asked = [(step.asked, step.duration_s) for step in schedule]
        if settings.load is not None:
            asked = [(load_of(settings.load), settings.duration_s)]
        goals = {load.goal for load, _ in asked if load is not None and load.goal is not None}
        if goals:
            self._search(on, case, goals, place)
        return [
            SoakStep(
                load=PAUSE if load is None else load.text,
                load_pps=0.0 if load is None else self._load_pps(load, case),
                duration_s=duration_s,
            )
            for load, duration_s in asked
        ]

    def _load_pps(self, load: Load, case: Case) -> float:
        pps = load_pps(load, case.throughput, case.mean_frame_bytes)
        if pps is None:
            if case.problem is not None:
                raise SoakError(case.problem)
            why = next((one.why for one in case.throughput if one.why is not None), None)
            raise SoakError(f"no throughput was found for {load.text} ({why}): give the load as a rate")
        return pps

    def _search(self, on: RunningChain, case: Case, names: set[str], place: int) -> None:
        measure = self._lab.measure
        goals = tuple(one for one in measure.goals if one.name in names)
        alone = measure.model_copy(
            update={
                "goals": goals,
                "curve": measure.curve.model_copy(update={"points": 0}),
                "latency": None,
            }
        )

        def on_event(event: Event) -> None:
            if isinstance(event, TrialFinished):
                self._store.add_trial(place, event.frame, event.mean_frame_bytes, event.trial)
            self._progress.event(event)

        found = next(
            measure_setup(
                alone,
                [on.traffic(case.frame)],
                OnChain(
                    on.tester(),
                    on.counters,
                    on_event,
                    {case.frame: case.ceiling} if case.ceiling else {},
                    watched=on.watched(),
                    unready=on.topology.unready(),
                ),
            )
        )
        case.throughput, case.trials, case.problem = found.throughput, found.trials, found.problem

    def _ceiling(self, setup: Setup, case: Case) -> Ceiling | None:
        """The tester's own over the same kind of port: what its delays are measured against."""
        with running(self._lab, plan.loopback(self._planned(setup), new_id(self._lab))) as loop:
            found = ceilings(
                self._lab.measure, [loop.traffic(case.frame)], loop.tester(), self._progress.event
            )
        return found.get(case.frame)
