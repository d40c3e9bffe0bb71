# SPDX-License-Identifier: Apache-2.0
"""A lab's set-ups, one after the other, from the lab to a stored result: deploy, measure, destroy.

`weir run` and `weir rfc2544` are campaigns with another measurement each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Sequence
from datetime import UTC, datetime
from typing import Protocol

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
from weir.procedures.outputs import OutputKeeper, ReportFolder
from weir.procedures.rounds import MeasuredSetup
from weir.procedures.stored_result import Progress, new_result
from weir.results.result import Case, Ceiling, Result, Setup, Shortfall
from weir.store.store import Store

Measuring = Callable[[Measure, Sequence[Traffic], OnChain], Iterator[Case]]
Resets = Callable[[fabric.Deployment], Sequence[Reset]]


class CampaignProgress(Progress, Protocol):
    """Whoever shows where a campaign is."""

    def planned(self, cases: int) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


class Campaign:
    """One run of a lab."""

    def __init__(
        self,
        lab: Lab,
        compared: Sequence[Way] = (),
        *,
        quick: bool,
        store: Store,
        progress: CampaignProgress,
        measuring: Measuring = measure_setup,
        resets: Resets = lambda _chain: (),
        reports: ReportFolder | None = None,
    ) -> None:
        """`compared`: the ways of the lab on this machine; absent: of a lab without variants.

        `measuring`: what is done with each built chain. `resets`: what it may reset of one; absent: nothing.
        `reports`: where what programs say is kept.
        """
        self._reports = reports
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
        self._state = MachineState(store.machine_best(fabric.boot_id(), fabric.weir_version()))

    def run(self) -> Result:
        """Measures everything that can be measured here. Ctrl-C: what was finished, marked interrupted.

        Ctrl-C ends a trial at once, but waits for a step of building or taking down; a second one changes
        nothing.
        """
        with stop_signals.held():
            take_down_leftovers(self._progress.say)
            began = time.monotonic()
            result = self._begin()
            if self._reports is not None:
                self._keeper = OutputKeeper(self._reports(result.id), self._progress.say)
            self._store.begin(result)
            visits = list(self._visits())
            self._progress.planned(len(visits) * len(self._frames()))
            try:
                for way, chain, turn in visits:
                    stop_signals.check()
                    finished = self._finished
                    self._visit(result, way, chain, turn)
                    self._progress.skipped(len(self._frames()) - (self._finished - finished))
                self._revisit(result)
            except KeyboardInterrupt:
                result.interrupted = True
                self._progress.say(
                    f"interrupted: took everything down; what was finished is in {self._store.name}"
                )
                stop_signals.discard()
            result.reductions = reductions(result)
            result.machine = self._state.seen()
            result.finished_at = _now()
            result.seconds = round(time.monotonic() - began, 1)
            self._store.update(result)
        return result

    def _visits(self) -> Iterator[tuple[Way, Chain, str]]:
        """Every way and chain, as often as there are rounds: there, back, and there again. With what to say
        of the round."""
        order = [(way, chain) for way in self._ways for chain in way.lab.chains()]
        rounds = self._lab.measure.rounds
        for number in range(rounds):
            turn = f", round {number + 1}" if rounds > 1 else ""
            yield from ((way, chain, turn) for way, chain in order[:: -1 if number % 2 else 1])

    def _revisit(self, result: Result) -> None:
        """What was only measured in a worse state of the machine, again while there is time."""
        until = time.monotonic() + self._lab.measure.revisit_s
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
                if time.monotonic() >= until:
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
        return result

    def _visit(
        self, result: Result, way: Way, chain: Chain, turn: str, frames: Container[str] | None = None
    ) -> None:
        """`turn`: which visit this is, in words. `frames`: those alone; None: all."""
        name = f"{way.name} {chain.name}"
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
        with running(lab, topology, self._keeper.of(visited.setup)) as chain:
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
                self._store.add_case(number, visited.add(case, lab.sla, self._state))
                self._finished += 1
                self._progress.case(case)

    def _record(self, result: Result, visited: MeasuredSetup, chain: RunningChain) -> None:
        """What stands now. The fingerprint has the versions of all technologies so far."""
        chain.describe(visited.setup)
        self._versions |= chain.versions()
        result.fingerprint = fabric.fingerprint(chain.hello.tsc_hz, chain.hello.memory, self._versions)
        self._store.update_setup(visited.number, visited.setup)
        self._store.update(result)


def _shortfalls() -> list[Shortfall]:
    return [Shortfall(subject=subject, what=what) for subject, what in shortfalls(facts()).items()]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
