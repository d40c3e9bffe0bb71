# SPDX-License-Identifier: Apache-2.0
"""A lab's set-ups, one after the other, from the lab to a stored result: deploy, measure, destroy.

`weir run` and `weir rfc2544` are campaigns with another measurement each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Protocol

from weir import fabric, plan
from weir.base.error import ChainError
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.fabric.host.reading import facts
from weir.host.facts import shortfalls
from weir.lab import Chain, Lab
from weir.lab.measure import Measure
from weir.lab.ways import Way, ways
from weir.measure import ceilings, measure_setup
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.one_case import Event, OnChain, TrialFinished
from weir.measure.reductions import reductions
from weir.measure.tester import Reset, Traffic
from weir.procedures.driver import RunningChain, new_id, planned, refused, running, take_down_leftovers
from weir.procedures.order import Budget, Order
from weir.procedures.outputs import OutputKeeper, ReportFolder
from weir.procedures.points import Points
from weir.procedures.rounds import MeasuredSetup
from weir.procedures.stored_result import Progress, new_result
from weir.results.campaign import CampaignRecord, SharedCampaign
from weir.results.result import Case, Ceiling, MachineBest, Result, Setup, Shortfall, Trial

Measuring = Callable[[Measure, Sequence[Traffic], OnChain], Iterator[Case]]
Resets = Callable[[fabric.Deployment], Sequence[Reset]]


class CampaignProgress(Progress, Protocol):
    """Whoever shows where a campaign is."""

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


class RunStore(Protocol):
    """Where a campaign keeps what it measures: `weir.store.store.Store`, or that of another host."""

    @property
    def name(self) -> str: ...
    def begin(self, result: Result) -> None: ...
    def update(self, result: Result) -> None: ...
    def add_setup(self, run_id: str, setup: Setup) -> int: ...
    def update_setup(self, number: int, setup: Setup) -> None: ...
    def add_trial(self, setup: int, frame: str, mean_frame_bytes: float, trial: Trial) -> None: ...
    def add_case(self, setup: int, case: Case) -> None: ...
    def remove_case(self, setup: int, frame: str) -> None: ...
    def reopen_run(self, run_id: str) -> tuple[Result, list[int]]: ...
    def machine_best(self, boot_id: str, version: str) -> MachineBest: ...


@dataclass(frozen=True)
class HandedOut:
    """A campaign over several hosts hands points out to this one, one after the other."""

    shared: SharedCampaign
    points: Iterable[tuple[tuple[str, str], str]]
    """Each a set-up and a frame size, when it is asked for: by then the one before has been measured."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a run besides its lab."""

    seed: int | None = None
    """Of a random order within each round; None: there and back."""
    budget_s: float | None = None
    """After which nothing is begun that would not end in time; None: no limit."""
    resumed: str | None = None
    """The id of the stored run that goes on; its order is that of this one. None: a new one."""
    handed_out: HandedOut | None = None
    """None: the run goes through all points by itself."""


class Campaign:
    """One run of a lab."""

    def __init__(
        self,
        lab: Lab,
        compared: Sequence[Way] = (),
        *,
        quick: bool,
        store: RunStore,
        progress: CampaignProgress,
        measuring: Measuring = measure_setup,
        resets: Resets = lambda _chain: (),
        reports: ReportFolder | None = None,
        asked: Asked | None = None,
    ) -> None:
        """`compared`: the ways of the lab on this machine; absent: of a lab without variants.

        `measuring`: what is done with each built chain. `resets`: what it may reset of one; absent: nothing.
        `reports`: where what programs say is kept. `asked`: of a run that can be gone on with;
        absent: of another procedure.
        """
        self._reports = reports
        self._asked = asked or Asked()
        self._resumable = asked is not None
        self._budget = Budget(self._asked.budget_s)
        self._keeper = OutputKeeper(None, progress.say)
        self._measuring = measuring
        self._resets = resets
        self._lab = lab
        self._ways = tuple(compared) or ways(lab)
        self._quick = quick
        self._store = store
        self._progress = progress
        # By port kind, and by variant: they are the tester's, not the switch's.
        self._ceilings: dict[tuple[str, str | None], dict[str, Ceiling]] = {}
        self._visited: dict[tuple[str, str], MeasuredSetup] = {}
        self._versions: dict[str, str] = {}
        self._finished = 0
        self._began_s = self._before_s = self._mark_s = 0.0
        self._setups = {
            (way.name, chain.name): (way, chain) for way in self._ways for chain in way.lab.chains()
        }
        self._points = Points(list(self._setups), self._frames(), lab.measure.rounds, self._visited)
        self._order = Order(
            list(self._setups),
            lab.measure.rounds,
            seed=self._asked.seed,
            widest_first=self._asked.budget_s is not None,
        )
        self._state = MachineState(store.machine_best(fabric.boot_id(), fabric.weir_version()))

    def run(self) -> Result:
        """Measures everything that can be measured here, within its budget. Ctrl-C: what was finished, marked
        interrupted; it can be gone on with.

        Ctrl-C ends a trial at once, but waits for a step of building or taking down; a second one changes
        nothing.
        """
        with stop_signals.held():
            take_down_leftovers(self._progress.say)
            self._began_s = time.monotonic()
            result = self._begin() if self._asked.resumed is None else self._gone_on_with(self._asked.resumed)
            if self._reports is not None:
                self._keeper = OutputKeeper(self._reports(result.id), self._progress.say)
            self._progress.planned(self._points.planned - self._points.measured, self._asked.budget_s)
            try:
                if self._asked.handed_out is None:
                    self._visits(result)
                else:
                    self._handed_out(result, self._asked.handed_out)
                self._revisit(result)
            except KeyboardInterrupt:
                result.interrupted = True
                self._progress.say(
                    f"interrupted: took everything down; what was finished is in {self._store.name}"
                )
                stop_signals.discard()
            result.reductions = reductions(result)
            result.finished_at = _now()
            if result.campaign is not None and self._asked.handed_out is None:
                result.campaign.left_out = list(self._points.left_out())
                result.campaign.points = self._points.planned - self._points.refused
            elif result.campaign is not None:  # what is left out, the campaign knows
                result.campaign.points = self._points.measured
            self._keep(result)
        return result

    def _visits(self, result: Result) -> None:
        """Every way and chain, as often as there are rounds, in their order."""
        several = self._lab.measure.rounds > 1
        for visit in self._order.visits(self._points.done(), self._points.width):
            stop_signals.check()
            way, chain = self._setups[visit.setup]
            wanted = self._points.wanted(visit.setup, visit.round)
            finished = self._finished
            if self._budget.fits(visit.setup):
                turn = f", round {visit.round + 1}" if several else ""
                self._visit(result, way, chain, turn, wanted)
            self._progress.skipped(len(wanted) - (self._finished - finished))

    def _handed_out(self, result: Result, handed_out: HandedOut) -> None:
        """One point after the other, as long as some come."""
        for key, frame in handed_out.points:
            stop_signals.check()
            way, chain = self._setups[key]
            self._visit(result, way, chain, "", frozenset({frame}))

    def _revisit(self, result: Result) -> None:
        """What was only measured in a worse state of the machine, again while there is time."""
        until = time.monotonic() + self._lab.measure.revisit_s
        if self._budget.left_s is not None:
            until = min(until, time.monotonic() + self._budget.left_s)
        order = list(self._visited.values())
        while True:
            for visited in order:
                for frame in visited.rounds:
                    self._store.add_case(
                        visited.number, visited.judge(frame, visited.way.lab.sla, self._state)
                    )
            worse = [visited for visited in order if visited.worse()]
            if not worse:
                return
            for visited in worse:
                key = visited.way.name, visited.chain.name
                if time.monotonic() >= until or not self._budget.fits(key):
                    return
                stop_signals.check()
                self._progress.say(
                    f"{visited.setup.name} {visited.setup.chain}: again, the machine was in a worse state"
                )
                self._visit(result, visited.way, visited.chain, ", again", frozenset(visited.worse()))

    def _begin(self) -> Result:
        baseline = self._lab.baseline or self._ways[0].name
        result = new_result(self._lab, quick=self._quick, baseline=baseline)
        result.shortfalls = _shortfalls() if self._lab.variants else []
        if self._resumable:
            result.campaign = CampaignRecord(
                rounds=self._lab.measure.rounds,
                points=self._points.planned,
                seed=self._asked.seed,
                budget_s=self._asked.budget_s,
                shared=self._asked.handed_out.shared if self._asked.handed_out is not None else None,
            )
        self._store.begin(result)
        if self._asked.seed is not None:  # reports show set-ups in the order of the lab, not of the dice
            for way, chain in self._setups.values():
                self._first_visit(result, way, chain)
        return result

    def _gone_on_with(self, run_id: str) -> Result:
        """A stored run, with all that came to its end; what had not is taken out, and measured anew."""
        result, numbers = self._store.reopen_run(run_id)
        assert result.campaign is not None
        result.campaign.left_out = []
        result.campaign.resumed_at.append(_now())
        if self._asked.budget_s is not None:
            result.campaign.budget_s = result.seconds + self._asked.budget_s
        self._before_s = result.seconds
        if result.machine is not None:
            self._state = MachineState(self._state.best().with_better(result.machine))
        for setup, number in zip(result.setups, numbers, strict=True):
            key = setup.name, setup.chain
            way, chain = self._setups[key]
            visited = self._visited[key] = MeasuredSetup(way, chain, setup, number)
            for frame in visited.restore():
                if frame in visited.rounds:
                    self._store.add_case(number, visited.judge(frame, way.lab.sla, self._state))
                else:
                    self._store.remove_case(number, frame)
            if not setup.cases:
                setup.refused = refused(way, chain)
            self._budget.took(key, (one.seconds for known in visited.rounds.values() for one in known))
        self._store.update(result)
        return result

    def _visit(
        self, result: Result, way: Way, chain: Chain, turn: str, frames: Container[str] | None = None
    ) -> None:
        """`turn`: which visit this is, in words. `frames`: those alone; None: all."""
        name = f"{way.name} {chain.name}"
        self._mark_s = time.monotonic()
        self._progress.setup(name + turn)
        visited = self._visited.get((way.name, chain.name)) or self._first_visit(result, way, chain)
        setup = visited.setup
        if setup.refused is not None:
            return
        topology = planned(way.lab, way.technology, chain)
        try:
            found = self._calibrated(way, topology)
            self._measure(result, visited, topology, found, frames)
        except ChainError as error:
            if not setup.cases:
                setup.refused = str(error)
            self._progress.say(f"{name}: given up: {error}")
            if isinstance(error.__context__, KeyboardInterrupt):  # taking down failed after Ctrl-C
                raise error.__context__ from error
        finally:
            self._store.update_setup(visited.number, setup)

    def _first_visit(self, result: Result, way: Way, chain: Chain) -> MeasuredSetup:
        setup = Setup(
            technology=way.technology,
            variant=way.name if way.variant is not None else None,
            chain=chain.name,
            datapath="none",
        )
        result.setups.append(setup)
        setup.refused = refused(way, chain)
        visited = MeasuredSetup(way, chain, setup, self._store.add_setup(result.id, setup))
        self._visited[way.name, chain.name] = visited
        if setup.refused is not None:
            self._progress.say(f"{way.name} {chain.name}: left out: {setup.refused}")
        return visited

    def _frames(self) -> list[str]:
        return [str(frame) for frame in self._lab.traffic.frames]

    def _calibrated(self, way: Way, topology: Topology) -> dict[str, Ceiling]:
        """The tester's own ceilings over the same kind of port, measured once a run and variant."""
        kind = topology.ports[0].kind, way.variant
        if kind not in self._ceilings:
            with running(way.lab, plan.loopback(topology, new_id(way.lab))) as loop:
                self._ceilings[kind] = ceilings(
                    self._lab.measure,
                    [loop.traffic(frame) for frame in self._frames()],
                    loop.tester(),
                    self._progress.event,
                    watched=Watched(loop.cores, self._state),
                )
        return self._ceilings[kind]

    def _measure(
        self,
        result: Result,
        visited: MeasuredSetup,
        topology: Topology,
        found: dict[str, Ceiling],
        frames: Container[str] | None,
    ) -> None:
        number, lab = visited.number, visited.way.lab
        before = len(visited.setup.n4)
        with running(lab, topology, self._keeper.of(visited.setup), self._progress.say) as chain:
            self._record(result, visited, chain)

            def on_event(event: Event) -> None:
                if isinstance(event, TrialFinished):
                    self._store.add_trial(number, event.frame, event.mean_frame_bytes, event.trial)
                self._progress.event(event)

            cases = self._measuring(
                lab.measure,
                [chain.traffic(frame) for frame in self._frames() if frames is None or frame in frames],
                OnChain(
                    chain.tester(),
                    chain.counters,
                    on_event,
                    found,
                    sla=lab.sla,
                    outside=chain.deployment.watch(sample_stacks=lab.measure.sample_stacks),
                    watched=Watched(chain.cores, self._state),
                    resets=self._resets(chain.deployment),
                    failed=chain.deployment.keep_logs,
                ),
            )
            for case in cases:
                visited.setup.n4[before:] = chain.n4()
                self._keep_case(result, visited, case)
                self._finished += 1
                self._progress.case(case)
                if not self._budget.fits((visited.way.name, visited.chain.name)):
                    break

    def _keep_case(self, result: Result, visited: MeasuredSetup, case: Case) -> None:
        """One more round of it, in the store at once: it is not measured again, however this run ends."""
        self._store.add_case(visited.number, visited.add(case, visited.way.lab.sla, self._state))
        now_s = time.monotonic()
        self._budget.took((visited.way.name, visited.chain.name), [now_s - self._mark_s])
        self._mark_s = now_s
        self._keep(result)

    def _keep(self, result: Result) -> None:
        """What is known of the run by now."""
        result.machine = self._state.seen()
        result.seconds = round(self._before_s + time.monotonic() - self._began_s, 1)
        self._store.update(result)

    def _record(self, result: Result, visited: MeasuredSetup, chain: RunningChain) -> None:
        """What stands now. The fingerprint has the versions of all technologies so far."""
        chain.describe(visited.setup)
        self._versions |= chain.versions()
        result.fingerprint = fabric.fingerprint(chain.hello.tsc_hz, chain.hello.memory, self._versions)
        self._store.update_setup(visited.number, visited.setup)
        self._store.update(result)


def own_campaign(lab: Lab) -> Any:
    """The module of the procedure that measures such traffic in its own way; None: rates are searched."""
    capture = lab.traffic.capture
    asked = {"connections": lab.traffic.connections, "replay": capture.replay if capture else None}
    name = next((name for name, wanted in asked.items() if wanted is not None), None)
    return import_module(f"weir.procedures.{name}.campaign") if name is not None else None


def _shortfalls() -> list[Shortfall]:
    return [Shortfall(subject=subject, what=what) for subject, what in shortfalls(facts()).items()]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
