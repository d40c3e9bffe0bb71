# SPDX-License-Identifier: Apache-2.0
"""Runs of two chains that were never built: what each round finds is of the how manyeth it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weir.fabric import stop_signals
from weir.lab import Lab, load_lab
from weir.lab.measure import Measure
from weir.measure.delay import point_of
from weir.measure.one_case import Event, OnChain, TrialFinished
from weir.measure.tester import Traffic
from weir.procedures import campaign
from weir.procedures.campaign import Campaign
from weir.procedures.order import Asked
from weir.procedures.resuming import (
    budget_left_s,
    campaign_of,
)
from weir.results.result import Case, Result, Throughput, Trial
from weir.results.rounds import INTERRUPTED
from weir.store.store import Store

LAB = """
weir: 1
name: two
chain: [PVP, PVVP]
technology: [direct]
traffic: {frames: [64, 1518]}
measure: {rounds: 3, repeats: 1, revisit_s: 0}
"""
POINTS = 12
"""Two chains, two frame sizes, three rounds."""


class Quiet:
    """Shows nothing, but keeps what is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.counts: list[int] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def setup(self, name: str) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...

    def planned(self, cases: int, budget_s: float | None = None) -> None:  # noqa: ARG002
        self.counts.append(cases)

    def skipped(self, cases: int) -> None:
        self.counts.append(-cases)


def trial(load_pps: float) -> Trial:
    return Trial(
        purpose="search",
        intended_load_pps=load_pps,
        intended_duration_s=1,
        duration_s=1,
        intended=1000,
        offered=1000,
        delivered=1000,
        loss_ratio=0,
        valid=True,
    )


class FakeMeasure:
    """Two trials, a curve of one and a delay for each frame size; its rates are of the how manyeth it is."""

    def __init__(self, log: Path, reached: Callable[[str], None] = lambda _place: None) -> None:
        self._log = log
        self._reached = reached
        self.interrupt_at: int | None = None

    def count(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0

    def __call__(self, _measure: Measure, traffic: Sequence[Traffic], chain: OnChain) -> Iterator[Case]:
        for one in traffic:
            self._reached("case begins")
            number = self.count()
            interrupted = number == self.interrupt_at
            trials = [trial(1e6 + number), trial(2e6 + number)]
            for each in trials:
                chain.on_event(TrialFinished(one.frame, one.mean_frame_bytes, each))
                self._reached("trial stored")
            found = Throughput(
                goal="NDR",
                goal_loss_ratio=0,
                status="found",
                load_pps=1e6 * (1 + number),
                load_min_pps=1e6,
                load_max_pps=9e6,
                repeats=1,
                searches=1,
            )
            if interrupted:
                yield Case(
                    frame=one.frame, mean_frame_bytes=64, trials=trials, problem=INTERRUPTED, seconds=1
                )
                raise KeyboardInterrupt
            case = Case(
                frame=one.frame,
                mean_frame_bytes=64,
                throughput=[found],
                trials=trials,
                curve=[trial(3e6 + number)],
                delays=[point_of("1Mpps", 1e6, [trial(4e6 + number)])],
                seconds=1 + number,
            )
            with self._log.open("a") as log:
                log.write(f"{one.frame}\n")
            yield case
            self._reached("case stored")


class Runs:
    """Of one lab in one store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        path = self.folder / "lab.yml"
        path.write_text(LAB)
        self.lab = load_lab(path, cpus=sorted(os.sched_getaffinity(0)))
        self.store = str(self.folder / "results.db")
        self.measure = FakeMeasure(self.folder / "log")
        self.told = Quiet()

    def run(self, asked: Asked) -> Result:
        with Store(self.store) as store:
            return Campaign(
                self.lab, quick=False, store=store, progress=self.told, measuring=self.measure, asked=asked
            ).run()

    def stored(self) -> Result:
        with Store(self.store) as store:
            found = store.latest()
        assert found is not None
        return found

    def go_on(self, budget_s: float | None = None) -> Result:
        before = self.stored()
        seed = campaign_of(before).seed
        return self.run(Asked(seed, budget_left_s(before, budget_s), before.id))


def rates(result: Result) -> dict[tuple[str, str], list[float]]:
    """What each round found, case by case."""
    return {
        (setup.chain, case.frame): [one.load_pps for one in case.throughput[0].rounds]
        for setup, case in result.cases()
    }


def is_whole(result: Result) -> None:
    """Each point once, with its own two trials, its point of the curve and its delay."""
    assert [setup.chain for setup in result.setups] == ["PVP", "PVVP"]
    found = rates(result)
    assert sorted(found) == [("PVP", "1518"), ("PVP", "64"), ("PVVP", "1518"), ("PVVP", "64")]
    assert sorted(rate for each in found.values() for rate in each) == [1e6 * (1 + n) for n in range(POINTS)]
    for _, case in result.cases():
        numbers = [int(one.load_pps / 1e6) - 1 for one in case.throughput[0].rounds]
        assert [one.intended_load_pps for one in case.trials] == [
            base + number for number in numbers for base in (1e6, 2e6)
        ]
        assert [one.intended_load_pps for one in case.curve] == [3e6 + number for number in numbers]
        (point,) = case.delays
        assert [one.intended_load_pps for one in point.trials] == [4e6 + number for number in numbers]
        assert case.seconds == sum(1 + number for number in numbers)
        assert case.throughput[0].load_pps == sorted(one.load_pps for one in case.throughput[0].rounds)[1]
    assert result.campaign is not None
    assert (result.campaign.points, result.campaign.left_out) == (POINTS, [])


def as_stored(result: Result) -> dict[str, Any]:
    return result.model_dump(exclude={"id", "started_at", "finished_at", "seconds", "machine", "campaign"})


@pytest.fixture(autouse=True)
def nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that stands at once, of a machine that has everything."""

    @contextmanager
    def running(_lab: Lab, *_more: object) -> Iterator[Any]:
        deployment = SimpleNamespace(watch=lambda **_: None, keep_logs=lambda _error: None)
        with stop_signals.allowed():
            yield SimpleNamespace(
                traffic=lambda frame: SimpleNamespace(frame=frame, mean_frame_bytes=64.0),
                tester=lambda: None,
                counters=lambda: (),
                watched=lambda _state=None: None,
                deployment=deployment,
                describe=lambda _setup: None,
                versions=dict,
                n4=list,
                hello=SimpleNamespace(tsc_hz=0, memory="unknown"),
            )

    monkeypatch.setattr(campaign, "running", running)
    monkeypatch.setattr(campaign, "ceilings", lambda *_, **__: {})
    monkeypatch.setattr(campaign, "refused", lambda _way, _chain: None)
    monkeypatch.setattr(campaign, "take_down_leftovers", lambda _say: None)
