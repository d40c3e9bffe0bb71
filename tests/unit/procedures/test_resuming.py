# SPDX-License-Identifier: Apache-2.0
"""A run that is killed, interrupted or out of its budget goes on: every point once, and the same result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.smoke.killed import kill, survived
from weir.comparison.samples import of_runs
from weir.fabric import stop_signals
from weir.lab import Lab, load_lab
from weir.lab.load import stored_lab
from weir.lab.measure import Measure
from weir.measure.delay import point_of
from weir.measure.one_case import Event, OnChain, TrialFinished
from weir.measure.tester import Traffic
from weir.procedures import campaign
from weir.procedures.campaign import Campaign
from weir.procedures.order import Asked
from weir.procedures.resuming import (
    ResumeError,
    budget_left_s,
    campaign_of,
    require_same,
    require_same_machine,
)
from weir.report.summary import left_out
from weir.results.campaign import LeftOutRounds
from weir.results.result import Case, Result, Throughput, Trial
from weir.results.rounds import INTERRUPTED, rounds_measured
from weir.store.rows import add_run
from weir.store.store import Store, UnfinishedRun

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
                cores=None,
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


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "one")


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


@pytest.mark.long
@pytest.mark.parametrize("seed", [None, 7])
def test_killed_at_any_point_a_run_goes_on_to_the_result_of_one_that_was_not(
    tmp_path: Path, seed: int | None
) -> None:
    for place, numbers in {
        "case begins": (1, 2, 6),
        "trial stored": (1, 9, 24),
        "case stored": (1, 4, 12),
    }.items():
        for number in numbers:
            killed = Runs(tmp_path / f"{place} {number}")
            times = 0

            def reached(here: str, place: str = place, number: int = number) -> None:
                nonlocal times
                times += here == place
                if times == number and here == place:
                    kill()

            killed.measure = FakeMeasure(killed.folder / "log", reached)
            assert not survived(lambda killed=killed: killed.run(Asked(seed))), (place, number)  # type: ignore[misc]
            # The fake writes its log before the store: what is not stored is measured again.
            done = rounds_measured([killed.stored()]).total()
            (killed.folder / "log").write_text("x\n" * done)
            killed.measure = FakeMeasure(killed.folder / "log")
            result = killed.go_on()
            is_whole(result)
            assert killed.measure.count() == POINTS, (place, number)
            assert killed.told.counts[0] == POINTS - done
            is_whole(killed.stored())
            assert as_stored(killed.stored()) == as_stored(result)
            assert result.campaign is not None
            assert len(result.campaign.resumed_at) == 1


def test_a_case_that_ctrl_c_ended_is_measured_anew_from_its_beginning(runs: Runs) -> None:
    for interrupt_at in (0, 5, 5, 11):
        runs.measure.interrupt_at = interrupt_at
        result = runs.run(Asked()) if interrupt_at == 0 else runs.go_on()
        assert result.interrupted
        assert result.campaign is not None
        assert result.campaign.left_out_points == POINTS - interrupt_at
        assert rounds_measured([runs.stored()]).total() == interrupt_at
    runs.measure.interrupt_at = None
    is_whole(runs.go_on())
    whole = runs.stored()
    is_whole(whole)
    assert not whole.interrupted
    assert {len(samples.values) for key, samples in of_runs([whole]).items() if key[3] == "NDR"} == {3}


def test_a_shuffled_run_has_its_set_ups_in_the_order_of_the_lab_and_goes_on_in_its_own(runs: Runs) -> None:
    straight = Runs(runs.folder.parent / "straight")
    whole = straight.run(Asked(seed=5))
    runs.measure.interrupt_at = 7
    runs.run(Asked(seed=5))
    runs.measure.interrupt_at = None
    assert rates(runs.go_on()) == rates(whole)


def test_a_budget_ends_a_run_with_what_is_left_out_and_another_one_goes_on(runs: Runs) -> None:
    clock = SimpleNamespace(now_s=100.0)

    def ten_seconds_a_case(place: str) -> None:
        clock.now_s += 10 * (place == "case begins")

    runs.measure = FakeMeasure(runs.folder / "log", ten_seconds_a_case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: clock.now_s)
        patch.setattr(campaign, "Budget", lambda budget_s: order_budget(budget_s, lambda: clock.now_s))
        result = runs.run(Asked(budget_s=55.0))
        assert result.campaign is not None
        assert (result.campaign.points, result.campaign.left_out_points) == (POINTS, 7)
        assert (result.seconds, result.interrupted) == (50.0, False)
        assert [(one.chain, one.frame, one.measured, one.left_out) for one in result.campaign.left_out] == [
            ("PVP", "64", 1, 2),
            ("PVP", "1518", 1, 2),
            ("PVVP", "64", 2, 1),
            ("PVVP", "1518", 1, 2),
        ]
        assert result.finished_at is not None
        with pytest.raises(ResumeError, match=r"has used its budget of 0\.91\d+ min; say with --budget"):
            runs.go_on()
        is_whole(runs.go_on(1000.0))
    with Store(runs.store) as store:
        here = result.fingerprint
        assert store.seconds_of(result.spec_sha256, here.cpu, here.cores) == [120.0]


def test_who_interrupts_a_case_after_the_budget_has_ended_has_interrupted_the_run(runs: Runs) -> None:
    clock = SimpleNamespace(now_s=100.0)

    def a_minute_a_case(place: str) -> None:
        clock.now_s += 60 * (place == "case begins")

    runs.measure = FakeMeasure(runs.folder / "log", a_minute_a_case)
    runs.measure.interrupt_at = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: clock.now_s)
        patch.setattr(campaign, "Budget", lambda budget_s: order_budget(budget_s, lambda: clock.now_s))
        result = runs.run(Asked(budget_s=10.0))
    assert result.interrupted
    assert "budget" not in str(left_out(result))


def order_budget(budget_s: float | None, clock: Callable[[], float]) -> Any:
    from weir.procedures.order import Budget

    return Budget(budget_s, clock)


def test_what_ended_early_by_its_budget_does_not_tell_how_long_a_run_takes(runs: Runs) -> None:
    result = runs.run(Asked(budget_s=3600.0))
    assert result.campaign is not None
    here = result.fingerprint
    with Store(runs.store) as store:
        assert len(store.seconds_of(result.spec_sha256, here.cpu, here.cores)) == 1
        result.campaign.left_out = [
            LeftOutRounds(name="direct", chain="PVP", frame="64", measured=1, left_out=2)
        ]
        store.update(result)
        assert store.seconds_of(result.spec_sha256, here.cpu, here.cores) == []


def test_what_gave_a_case_up_does_not_tell_how_long_a_run_takes(runs: Runs) -> None:
    result = runs.run(Asked())
    here = result.fingerprint
    with Store(runs.store) as store:
        assert len(store.seconds_of(result.spec_sha256, here.cpu, here.cores)) == 1
    result.id = "another"
    result.setups[-1].cases[-1].problem = "the port is gone"
    with Store(runs.store) as store:
        with store.session(writing=True) as session:
            add_run(session, result, [])
        assert len(store.seconds_of(result.spec_sha256, here.cpu, here.cores)) == 1


def test_a_killed_run_of_the_lab_is_known_until_another_one_came_to_its_end(runs: Runs) -> None:
    def reached(place: str) -> None:
        if place == "trial stored":
            kill()

    runs.measure = FakeMeasure(runs.folder / "log", reached)
    assert not survived(lambda: runs.run(Asked()))
    killed = runs.stored()
    with Store(runs.store) as store:
        found = UnfinishedRun(killed.id, "killed", on_hosts=False)
        assert store.unfinished_of(killed.spec_sha256) == found
        assert store.unfinished_of("another") is None
    runs.measure = FakeMeasure(runs.folder / "log")
    runs.go_on()
    with Store(runs.store) as store:
        assert store.unfinished_of(killed.spec_sha256) is None


def test_a_finished_run_and_one_of_another_procedure_are_refused(runs: Runs) -> None:
    whole = runs.run(Asked())
    with pytest.raises(ResumeError, match="has measured all its 12 points: nothing is left"):
        campaign_of(whole)
    whole.campaign = None
    with pytest.raises(ResumeError, match="is none of `weir run` that can be gone on with"):
        campaign_of(whole)


def test_another_lab_and_one_that_has_changed_are_refused(runs: Runs) -> None:
    runs.measure.interrupt_at = 3
    result = runs.run(Asked())
    require_same(result, runs.lab, "lab.yml")
    require_same(result, stored_lab(result.spec), "lab.yml")
    with pytest.raises(ResumeError, match=r"other\.yml is lab other, and run two-.* is of lab two"):
        require_same(result, runs.lab.model_copy(update={"name": "other"}), "other.yml")
    changed = runs.lab.measure.model_copy(update={"warm_up_s": 0.25})
    with pytest.raises(ResumeError, match=r"lab\.yml is not the lab of run two-.*: it has changed since"):
        require_same(result, runs.lab.model_copy(update={"measure": changed}), "lab.yml")


@pytest.mark.parametrize(
    ("field", "said"),
    [("kernel", "another kernel: 2.4"), ("cpu", "another CPU: 2.4"), ("host", "another host: 2.4")],
)
def test_another_machine_or_kernel_or_weir_is_refused(runs: Runs, field: str, said: str) -> None:
    runs.measure.interrupt_at = 3
    result = runs.run(Asked())
    require_same_machine(result)
    other = result.model_copy(update={"fingerprint": result.fingerprint.model_copy(update={field: "2.4"})})
    with pytest.raises(ResumeError, match=f"was begun with {said}; here it is"):
        require_same_machine(other)
    result.fingerprint.versions["weir"] = "0.0.1"
    with pytest.raises(ResumeError, match=r"was begun by Weir 0\.0\.1, and this is"):
        require_same_machine(result)
