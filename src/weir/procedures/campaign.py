# SPDX-License-Identifier: Apache-2.0
"""A lab's set-ups, one after the other, from the lab to a stored result: deploy, measure, destroy.

`weir run` and `weir rfc2544` are campaigns with another measurement each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Sequence

from weir import fabric, plan
from weir.base.error import ChainError
from weir.base.topology import Topology
from weir.base.words import counted
from weir.fabric import stop_signals
from weir.fabric.host.reading import facts
from weir.host.facts import shortfalls
from weir.lab import Chain, Lab
from weir.lab.file_digests import changed_captures
from weir.lab.measure import Measure
from weir.lab.ways import Way, ways
from weir.measure import ceilings, measure_setup
from weir.measure.expected import least_s
from weir.measure.one_case import Event, OnChain, TrialFinished
from weir.measure.tester import Reset, Traffic
from weir.procedures import own_campaign
from weir.procedures.driver import new_id, planned, refused, running, take_down_leftovers
from weir.procedures.elsewhere import ALONE, Elsewhere
from weir.procedures.order import Asked, Budget, HandedOut, Order
from weir.procedures.outputs import OutputKeeper, ReportFolder
from weir.procedures.points import Points
from weir.procedures.rounds import MeasuredSetup
from weir.procedures.stored_result import CampaignProgress, KeptRun, RunStore, new_result
from weir.results.result import Case, Ceiling, Result, Setup, Shortfall
from weir.results.rounds import ended

Measuring = Callable[[Measure, Sequence[Traffic], OnChain], Iterator[Case]]
Resets = Callable[[fabric.Deployment], Sequence[Reset]]


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
        elsewhere: Callable[[Way, Chain], Elsewhere] = lambda _way, _chain: ALONE,
    ) -> None:
        """`compared`: the ways of the lab on this machine; absent: of a lab without variants.

        `measuring`: what is done with each built chain. `resets`: what it may reset of one; absent: nothing.
        `reports`: where what programs say is kept. `asked`: of a run that can be gone on with;
        absent: of another procedure. `elsewhere`: what has parts of a chain built on other hosts.
        """
        self._elsewhere = elsewhere
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
        self._finished = 0
        self._mark_s = 0.0
        self._first_round = 0
        self._kept: KeptRun
        self.run_id: str | None = None
        """Of the run, once it is in the store."""
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

    def run(self) -> Result:
        """Measures everything that can be measured here, within its budget. Ctrl-C: what was finished, marked
        interrupted; it can be gone on with.

        Ctrl-C ends a trial at once, but waits for a step of building or taking down; a second one changes
        nothing.
        """
        with stop_signals.held():
            take_down_leftovers(self._progress.say)
            if self._asked.resumed is None:
                self._begin()
            else:
                self._go_on_with(self._asked.resumed)
            result, handed_out = self._kept.result, self._asked.handed_out
            self.run_id = result.id
            if self._reports is not None:
                self._keeper = OutputKeeper(self._reports(result.id), self._progress.say)
            self._progress.planned(self._points.planned - self._points.measured, self._asked.budget_s)
            began_s = time.monotonic()
            try:
                if handed_out is None:
                    self._visits()
                else:
                    self._handed_out(handed_out)
                self._revisit(time.monotonic() - began_s)
            except KeyboardInterrupt:
                result.interrupted = True
                for visited in self._visited.values():  # what was found before it was measured again stays
                    self._kept.judged_again(visited, visited.without_broken(self._lab.measure.rounds))
                self._progress.say(
                    f"interrupted: took everything down; what was finished is in {self._store.name}"
                )
                stop_signals.discard()
            if handed_out is None:
                points = self._points.planned - self._points.refused
                self._kept.ends(points, list(self._points.left_out()))
            else:  # what is left out, the campaign over all hosts knows
                self._kept.ends(self._points.measured, [])
        return result

    def _visits(self) -> None:
        """Every way and chain, as often as there are rounds, in their order."""
        several = self._lab.measure.rounds > 1
        for visit in self._order.visits(self._points.done(), self._points.width):
            stop_signals.check_unanswered()
            way, chain = self._setups[visit.setup]
            wanted = self._points.wanted(visit.setup, visit.round)
            finished = self._finished
            if self._budget.fits(visit.setup):
                turn = f", round {visit.round + 1}" if several else ""
                self._visit(way, chain, turn, wanted)
            self._progress.skipped(len(wanted) - (self._finished - finished))

    def _handed_out(self, handed_out: HandedOut) -> None:
        """One point after the other, as long as some come."""
        for key, frame, number in handed_out.points:
            stop_signals.check_unanswered()
            way, chain = self._setups[key]
            self._visit(way, chain, "", frozenset({frame}), number)
        self._budget.ends_in(handed_out.left_s())

    def _revisit(self, took_s: float) -> None:
        """What was only measured in a worse state of the machine, again while there is time: as long as all
        took at the most, since nobody waits five minutes for a case of five seconds."""
        until = time.monotonic() + min(self._lab.measure.revisit_s, took_s)
        if self._budget.left_s is not None:
            until = min(until, time.monotonic() + self._budget.left_s)
        order = list(self._visited.values())
        while True:
            for visited in order:
                self._kept.judged_again(visited, list(visited.rounds))
            worse = [visited for visited in order if visited.worse()]
            if not worse or time.monotonic() >= until:
                return
            cases = sum(len(visited.worse()) for visited in worse)
            self._progress.say(f"{counted(cases, 'case')} again: the machine was in a worse state")
            self._progress.planned(cases, until - time.monotonic())
            for visited in worse:
                key = visited.way.name, visited.chain.name
                sends_s = len(visited.worse()) * least_s(visited.way.lab.measure)
                if time.monotonic() + sends_s >= until or not self._budget.fits(key):
                    return
                stop_signals.check_unanswered()
                frames, again = frozenset(visited.worse()), self._lab.measure.rounds
                self._visit(visited.way, visited.chain, ", again", frames, again)

    def _begin(self) -> None:
        baseline = self._lab.baseline or self._ways[0].name
        result = new_result(self._lab, quick=self._quick, baseline=baseline)
        result.shortfalls = _shortfalls() if self._lab.variants else []
        if self._resumable:
            rounds, points = self._lab.measure.rounds, self._points.planned
            self._kept = KeptRun.begun(self._store, result, self._asked, rounds=rounds, points=points)
        else:
            self._kept = KeptRun.begun_once(self._store, result)
        if self._asked.seed is not None:  # reports show set-ups in the order of the lab, not of the dice
            for way, chain in self._setups.values():
                self._first_visit(way, chain)

    def _go_on_with(self, run_id: str) -> None:
        """A stored run, with all that came to its end; what had not is taken out, and measured anew."""
        self._kept, numbers = KeptRun.reopened(self._store, run_id, self._asked)
        for setup, number in zip(self._kept.result.setups, numbers, strict=True):
            key = setup.name, setup.chain
            way, chain = self._setups[key]
            visited = self._visited[key] = MeasuredSetup(way, chain, setup, number)
            self._kept.judged_again(visited, visited.restore())
            if not setup.cases:
                setup.refused, setup.failed = refused(way, chain), False
            self._budget.took(key, (one.seconds for known in visited.rounds.values() for one in known))

    def _visit(
        self, way: Way, chain: Chain, turn: str, frames: Container[str] | None = None, first: int = 0
    ) -> None:
        """`turn`: which visit this is, in words. `frames`: those alone; None: all. `first`: from which round
        on it is the first that they lack."""
        name = f"{way.name} {chain.name}"
        self._first_round = first
        self._mark_s = time.monotonic()
        self._progress.setup(name + turn)
        visited = self._visited.get((way.name, chain.name)) or self._first_visit(way, chain)
        setup = visited.setup
        if setup.refused is not None:
            return
        topology = planned(way.lab, way.technology, chain)
        try:
            self._require_same_load(way.lab)
            found = self._calibrated(way, topology)
            self._measure(visited, topology, found, frames)
        except ChainError as error:
            if not setup.cases:
                setup.refused, setup.failed = str(error), True
            self._progress.say(f"{name}: given up: {error}")
            if isinstance(error.__context__, KeyboardInterrupt):  # taking down failed after Ctrl-C
                raise error.__context__ from error
        finally:
            self._kept.visited(visited)

    def _require_same_load(self, lab: Lab) -> None:
        """FabricError where a capture has changed: each set-up sends what the others were sent."""
        for file in changed_captures(lab, self._kept.result.files_sha256):
            raise fabric.FabricError(
                f"{file} has changed since this run began, so it is another load than the set-ups before had",
                "send a copy that nobody writes to, and begin a new run",
            )

    def _first_visit(self, way: Way, chain: Chain) -> MeasuredSetup:
        setup = Setup(
            technology=way.technology,
            variant=way.name if way.variant is not None else None,
            chain=chain.name,
            datapath="none",
        )
        setup.refused = refused(way, chain)
        visited = MeasuredSetup(way, chain, setup, self._kept.add(setup))
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
                    watched=loop.watched(self._kept.state),
                )
        return self._ceilings[kind]

    def _measure(
        self,
        visited: MeasuredSetup,
        topology: Topology,
        found: dict[str, Ceiling],
        frames: Container[str] | None,
    ) -> None:
        lab = visited.way.lab
        before = len(visited.setup.n4)
        elsewhere = self._elsewhere(visited.way, visited.chain)
        keep = self._keeper.of(visited.setup)
        with running(lab, topology, keep, self._progress.say, elsewhere) as chain:
            self._kept.stands(visited, chain)

            def on_event(event: Event) -> None:
                if isinstance(event, TrialFinished):
                    self._kept.trial(visited, event.frame, event.mean_frame_bytes, event.trial)
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
                    watched=chain.watched(self._kept.state),
                    resets=self._resets(chain.deployment),
                    unready=topology.unready(),
                    failed=chain.deployment.keep_logs,
                ),
            )
            for case in cases:
                visited.setup.n4[before:] = chain.n4()
                self._keep_case(visited, case)
                self._finished += 1
                self._progress.case(case)
                # Of a case that Ctrl-C ended the next step raises that, whatever time there is.
                if ended(case) and not self._budget.fits((visited.way.name, visited.chain.name)):
                    break

    def _keep_case(self, visited: MeasuredSetup, case: Case) -> None:
        """One more round of it, in the store at once."""
        case.round = visited.free(case.frame, self._first_round)
        self._kept.case(visited, case)
        now_s = time.monotonic()
        self._budget.took((visited.way.name, visited.chain.name), [now_s - self._mark_s])
        self._mark_s = now_s


def campaign_class(lab: Lab) -> type[Campaign]:
    """What measures such a lab."""
    own = own_campaign(lab)
    return own.CAMPAIGN if own is not None else Campaign


def _shortfalls() -> list[Shortfall]:
    return [Shortfall(subject=subject, what=what) for subject, what in shortfalls(facts()).items()]
