# SPDX-License-Identifier: Apache-2.0
"""One segment of a soak on a chain that is deployed: load, looks, and what they say, stored as it goes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from weir.base.error import ChainError
from weir.base.si import MS_PER_S, NS_PER_S
from weir.fabric import stop_signals
from weir.fabric.outside.taken import TakenWatch
from weir.fabric.process_figures import process_figures
from weir.lab import Lab
from weir.measure.accounting import Counts, counted
from weir.measure.counting import Watched
from weir.measure.delay_figures import buckets
from weir.measure.one_case import Event
from weir.measure.preflight import nothing_comes
from weir.measure.trial import PortGoneError, TrialRunner
from weir.procedures.driver import RunningChain
from weir.procedures.soak.clock import SegmentClock
from weir.procedures.soak.intervals import Snapshot, pools_of
from weir.procedures.soak.recorder import Recorder, buffers_lost
from weir.procedures.soak.schedule import shares
from weir.procedures.stored_result import Progress
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.looking_tester import LookingTester
from weir.protocol.traffic import DelayWanted, Shape
from weir.results.fingerprint import differences
from weir.results.result import Case, Result
from weir.results.soak import PoolFigures, ProcessFigures, Soak, SoakInterval, TableFigure
from weir.results.trial import Trial
from weir.store.open_case import OpenCaseStore

WARM_UP_S, WARM_UP_MOST_S = 0.2, 5.0
SETTLED_READS, SETTLED_S = 20, 0.05
TABLES_MAX = 32
SETTLED_SHARE = 0.05


class SoakWatcher(Progress, Protocol):
    """Whoever shows where a soak is."""

    def event(self, event: Event) -> None: ...
    def soak(self, soak: Soak, interval: SoakInterval | None) -> None: ...


def settle_s(lab: Lab, duration_s: float) -> float:
    """Of the lab's latency part, or 20 s; of a short soak a twentieth."""
    wanted = lab.measure.latency.settle_s if lab.measure.latency is not None else 20.0
    return min(wanted, SETTLED_SHARE * duration_s)


@dataclass(frozen=True)
class WarmedUp:
    """What was sent before a segment."""

    packets: int
    """Of each stream, at least: so many places of every queue for sending have been used."""
    problem: str | None = None
    """A sentence, if nothing of a direction comes through."""


class SoakRun:
    """One segment on a standing chain, stored as it goes."""

    def __init__(
        self, lab: Lab, result: Result, case: Case, place: int, *, store: OpenCaseStore, progress: SoakWatcher
    ) -> None:
        """`case` has the soak; `place`: the number of its setup in the store."""
        assert case.soak is not None
        self._lab = lab
        self._result = result
        self._case = case
        self._soak = case.soak
        self._place = place
        self._store = store
        self._progress = progress

    def segment(self, on: RunningChain, warmed: int) -> bool:
        """Load for what is left of the duration. True: Ctrl-C ended it; once all was sent it comes too late.
        Everything known is in the store. `warmed`: packets of each stream that were sent before."""
        with stop_signals.held():
            interrupted = self._segment(on, warmed)
            if interrupted:
                stop_signals.discard()
        return interrupted

    def refuse(self, on: RunningChain, why: str) -> None:
        """A segment that fails before its load: nobody would learn anything from hours of it."""
        looks = _Looks(on, SegmentClock())
        recorder = Recorder(self._soak, on.traffic(self._case.frame).streams)
        self._begin(recorder, on, looks, looks.pools())
        recorder.fail(why)
        self._progress.say(f"the soak was given up: {why}")
        self._judge(recorder)

    def _segment(self, on: RunningChain, warmed: int) -> bool:
        clock, traffic = SegmentClock(), on.traffic(self._case.frame)
        looks = _Looks(on, clock)
        recorder = Recorder(self._soak, traffic.streams)
        self._soak.intervals.clear()
        trials: list[Trial] = []
        left_s = self._soak.duration_s - self._soak.measured_s

        def look() -> None:
            interval = recorder.add(looks.snapshot())
            self._store.add_interval(self._place, self._case, interval)
            self._soak.intervals.clear()  # 16 h have thousands: they are read again when all are there
            self._progress.soak(self._soak, interval)

        def all_sent() -> None:
            stop_signals.finish()  # what is left to do says what came of it, and takes the chain down
            self._progress.say("all was sent: counting the last packets, then taking the chain down")

        waiting = _waiting(on.client, on.cores)
        tester = LookingTester(on.client, self._soak.interval_s, look, waiting, all_sent)
        runner = TrialRunner(
            tester,
            on.counters,
            traffic,
            options=self._lab.measure.trial,
            on_trial=trials.append,
            watched=Watched(interfaces=on.interfaces),
        )
        shape = Shape(then=shares(self._soak, self._soak.measured_s, left_s))
        wanted = DelayWanted(settle_ns=round(min(self._soak.settle_s, left_s / 2) * NS_PER_S), variation=True)
        runner.learn(self._soak.load_pps)  # before anything is counted
        pools = looks.pools()
        self._begin(recorder, on, looks, pools)
        on.cores.begin()
        try:
            runner.run("soak", self._soak.load_pps, left_s, wanted, shape)
            after = looks.settled_pools(pools)
            queues = {one.name: one.tx_queue_size for one in on.plan.configure.ports}
            complete = not tester.ended_early
            recorder.end(trials[-1], after, clock.now(), queues=queues, warmed=warmed, complete=complete)
        except ChainError as error:
            on.deployment.keep_logs(error)
            recorder.fail(str(error))
            self._progress.say(f"the soak ended early: {error}")
        if (set_by := clock.was_set()) is not None:
            self._soak.segments[-1].differs.append(set_by)
        self._judge(recorder)
        return tester.ended_early

    def _begin(self, recorder: Recorder, on: RunningChain, looks: _Looks, pools: list[PoolFigures]) -> None:
        differs = differences(self._result.fingerprint, on.fingerprint()) if self._soak.segments else []
        counts, now_s = looks.counts(), looks.clock.now()
        recorder.begin(now_s, counts, pools, deployment=on.deployment.id, differs=differs)
        self._store.add_interval(self._place, self._case)
        self._progress.soak(self._soak, None)

    def _judge(self, recorder: Recorder) -> None:
        """With the intervals of all segments, which the soak has from now on."""
        self._soak.intervals = self._store.intervals(self._place, self._case)
        self._case.verdicts = recorder.judge(self._lab.sla)
        self._store.add_interval(self._place, self._case)


def warm_up(on: RunningChain, frame: str, soak: Soak) -> WarmedUp:
    """Sends at the soak's own load, of a schedule the lowest, until what queues keep of sent packets is full,
    so that pools compare before and after: a place of a queue has a buffer from its first use on. Not for
    longer than `WARM_UP_MOST_S`, however slow the load fills them.
    """
    load_pps = (
        min(step.load_pps for step in soak.schedule if step.load_pps) if soak.schedule else soak.load_pps
    )
    kept = max(port.tx_queue_size for port in on.plan.configure.ports)
    runner = TrialRunner(
        on.tester(),
        on.counters,
        on.traffic(frame),
        options=on.lab.measure.trial,
        on_trial=lambda _trial: None,
    )
    on.tester().configure_traffic(runner.traffic.config)
    with suppress(PortGoneError):
        full_s = max(WARM_UP_S, runner.traffic.lasts_s(kept, load_pps))
        sent = runner.run("calibration", load_pps, min(WARM_UP_MOST_S, full_s)).trial
        problem = nothing_comes(runner, load_pps, on.topology.unready())
        return WarmedUp(min((one.offered for one in sent.streams), default=0), problem)
    return WarmedUp(0)


class _Looks:
    """Reads everything about a standing chain."""

    def __init__(self, on: RunningChain, clock: SegmentClock) -> None:
        self._on = on
        self.clock = clock
        self._reporting: list[tuple[str, str]] | None = None

    def counts(self) -> Counts:
        """Drops by place and reason."""
        return counted(self._on.client.ledger(), self._on.counters())

    def pools(self) -> list[PoolFigures]:
        """Of weir-dp."""
        return pools_of(self._on.client.ledger())

    def settled_pools(self, before: Sequence[PoolFigures]) -> list[PoolFigures]:
        """Once all buffers are back that come back."""
        pools = self.pools()
        for _ in range(SETTLED_READS):
            if not buffers_lost(before, pools):
                break
            time.sleep(SETTLED_S)
            pools = self.pools()
        return pools

    def snapshot(self) -> Snapshot:
        """One look."""
        began = time.monotonic()
        client = self._on.client
        traffic = client.traffic_interval()
        wall_s = self.clock.now()
        taken, unrecorded = self._on.cores.end(), self._on.cores.unrecorded
        self._on.cores.begin()
        ids = [stream.id for stream in traffic.streams]
        ledger = client.ledger()
        return Snapshot(
            wall_s=wall_s,
            traffic=traffic,
            latency={stream: buckets(client.delays(stream).buckets) for stream in ids},
            ipdv={stream: buckets(client.delays(stream, "ipdv").buckets) for stream in ids},
            counts=counted(ledger, self._on.counters(under_load=True)),
            kinds={area.name: area.kind for area in ledger.areas},
            processes=self._processes(),
            pools=pools_of(ledger),
            tables=list(self._tables()),
            look_ms=round((time.monotonic() - began) * MS_PER_S, 3),
            taken=taken,
            unrecorded=unrecorded,
        )

    def _processes(self) -> list[ProcessFigures]:
        own = {"weir": os.getpid()}
        named = self._on.deployment.processes() | own
        found = [process_figures(name, pid) for name, pid in named.items()]
        return [one for one in found if one is not None]

    def _tables(self) -> Iterator[TableFigure]:
        """Figures of the functions that report any; which these are is asked once."""
        if self._reporting is None:
            self._reporting = []
            for area in self._on.client.ledger().areas:
                for nf in dict.fromkeys(stage.nf for path in area.paths for stage in path.stages):
                    with suppress(DataPlaneError):
                        self._on.client.report(area.name, nf, limit=0)
                        self._reporting.append((area.name, nf))
        for area_name, nf in self._reporting[:TABLES_MAX]:
            for place, figures in self._on.client.report(area_name, nf, limit=0).figures.items():
                for name, value in figures.items():
                    yield TableFigure(place=f"{place}/{nf}", name=name, value=value)


def _waiting(client: DataPlaneClient, cores: TakenWatch) -> Callable[[float], bool]:
    """What the kernel tells of `cores` meanwhile is taken from it before it has no more room for it."""

    def wait(seconds: float) -> bool:
        deadline_s = time.monotonic() + seconds
        more = True
        while more:
            try:
                with stop_signals.allowed():
                    more = client.wait(deadline_s - time.monotonic(), cores.filling())
            except KeyboardInterrupt:
                return True
            cores.drain()
        return False

    return wait


def soak_of(result: Result) -> Case | None:
    """The case of a run that has a soak."""
    cases = (case for _, case in result.cases())
    return next((case for case in cases if case.soak is not None), None)
