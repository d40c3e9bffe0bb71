# SPDX-License-Identifier: Apache-2.0
"""Cores belong to one weir, or to what it has left standing, at a time; who comes second is told whose."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir import plan
from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.cli.main import app
from weir.fabric import stop_signals
from weir.fabric.core_claim import GRACE_S, CoreClaim, claimed, remove_free_locks
from weir.fabric.journal import Journal
from weir.lab import Lab

FIRST = "first-9a1e51ff"
ENOUGH_S = 10.0


@pytest.fixture(autouse=True)
def run_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path))
    return tmp_path


def topology(tester: int = 0, functions: int = 1) -> Topology:
    spec = {"weir": 1, "name": "first", "chain": "PVP", "technology": ["direct"]}
    lab = Lab.model_validate(spec | {"cores": {"tester": [tester], "functions": [functions]}})
    return plan.build_topology(lab, "direct", lab.chains()[0], FIRST)


@pytest.fixture
def kept() -> Journal:
    """Of a deployment on cores 0 and 1 whose maker has ended."""
    journal = Journal.begin(topology())
    journal.write({"keep": True})
    journal.unlock()
    return journal


def test_what_another_version_describes_otherwise_may_poll_on_any_core(kept: Journal) -> None:
    head, *rest = kept.path.read_text().splitlines()
    document = json.loads(head)
    document["begin"]["word_of_tomorrow"] = 1
    kept.path.write_text("\n".join([json.dumps(document), *rest, ""]))
    with pytest.raises(FabricError, match="so nobody knows on which cores it polls") as refused:
        CoreClaim.of([7])
    assert refused.value.fix == f"take it down with `weir destroy {FIRST}`"


class Other:
    """Another weir that has cores, until it is killed."""

    def __init__(self, *cores: int) -> None:
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                CoreClaim.of(cores)
                os.write(writer, b"has them")
                time.sleep(ENOUGH_S)
            finally:
                os._exit(0)
        os.close(writer)
        self.came = bool(os.read(reader, 100))
        os.close(reader)

    def kill(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0


@pytest.fixture
def other() -> Iterator[Other]:
    started = Other(1, 2)
    yield started
    started.kill()


def test_a_deployment_that_was_left_standing_has_its_cores_and_says_how_it_is_taken_down(
    kept: Journal, run_root: Path
) -> None:
    with pytest.raises(FabricError) as caught:
        CoreClaim.of([0, 1, 3])
    assert str(caught.value) == (
        f"{FIRST} polls on cores 0 and 1; take it down with `weir destroy {FIRST}`,"
        " or choose other cores: `cores` of a lab, `performance.cores` of a cloud to verify,"
        " --cpu of `weir lean`"
    )
    assert caught.value.exit_code == 3
    assert not list(run_root.glob("core-*"))
    CoreClaim.of([2, 3]).release()
    kept.remove()
    CoreClaim.of([0, 1]).release()


def test_a_weir_that_runs_is_named_by_its_process_also_between_two_deployments(other: Other) -> None:
    with pytest.raises(FabricError) as caught:
        CoreClaim.of([0, 1])
    assert str(caught.value) == (
        f"a running weir (pid {other.pid}) has core 1; wait for its end (--wait, where the command has it),"
        " or choose other cores: `cores` of a lab, `performance.cores` of a cloud to verify,"
        " --cpu of `weir lean`"
    )


def test_what_a_weir_that_runs_has_deployed_is_named(other: Other) -> None:
    Journal.begin(topology())
    with pytest.raises(
        FabricError, match=rf"^{FIRST} of a running weir \(pid {other.pid}\) polls on core 1;"
    ):
        CoreClaim.of([1])


def test_of_a_weir_that_was_killed_the_cores_are_free_and_nothing_is_left(
    other: Other, run_root: Path
) -> None:
    other.kill()
    assert len(list(run_root.iterdir())) == 2
    CoreClaim.of([1]).release()
    remove_free_locks()
    assert list(run_root.iterdir()) == []


@pytest.mark.parametrize("words", [["destroy"], ["destroy", "--all"]])
def test_destroy_removes_locks_that_nobody_has_and_no_others(
    words: list[str], other: Other, run_root: Path
) -> None:
    """Of a weir that was killed before its journal was there."""
    claim = CoreClaim.of([0])
    assert CliRunner().invoke(app, words).exit_code == 0
    assert sorted(path.name for path in run_root.iterdir()) == [f"core-{core}.lock" for core in range(3)]
    other.kill()
    assert CliRunner().invoke(app, words).exit_code == 0
    assert [path.name for path in run_root.iterdir()] == ["core-0.lock"]
    claim.release()


def test_what_a_killed_weir_has_left_standing_is_taken_down_before_anything_is_built_and_so_is_not_in_the_way(
    run_root: Path,
) -> None:
    journal = Journal.begin(topology())
    journal.unlock()
    CoreClaim.of([0, 1]).release()
    assert [path.name for path in run_root.iterdir()] == [journal.path.name]


def test_what_is_being_taken_down_is_waited_for_without_being_asked() -> None:
    journal = Journal.begin(topology())
    journal.write({"ending": True})
    taker = os.fork()
    if taker == 0:
        time.sleep(2 * GRACE_S)
        journal.remove()
        os._exit(0)
    began = time.monotonic()
    journal._lock.release(gone=False)  # the taker alone has it
    CoreClaim.of([0]).release()
    assert time.monotonic() - began > GRACE_S
    os.waitpid(taker, 0)


def test_whoever_waits_says_once_for_whom_and_comes_to_its_turn(kept: Journal) -> None:
    said: list[str] = []
    taker = os.fork()
    if taker == 0:
        time.sleep(1.0)
        kept.remove()
        os._exit(0)
    claim = CoreClaim.of([0, 1], said.append)
    assert said == [f"{FIRST} polls on cores 0 and 1"]
    assert not kept.path.exists()
    claim.release()
    os.waitpid(taker, 0)


@pytest.mark.usefixtures("kept")
def test_a_signal_ends_the_waiting_where_signals_are_held_too() -> None:
    def press(_holder: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), stop_signals.held():
        CoreClaim.of([0], press)


@pytest.mark.long
def test_of_weirs_that_start_at_the_same_moment_one_gets_the_cores() -> None:
    start, writer = os.pipe()
    done, finished = os.pipe()
    racers = []
    for _ in range(8):
        racers.append(os.fork())
        if racers[-1] == 0:
            select.select([start], [], [])
            try:
                CoreClaim.of([0, 1])
                os.write(finished, b"1")
                time.sleep(4 * GRACE_S)
            except FabricError:
                os.write(finished, b"0")
            finally:
                os._exit(0)
    os.write(writer, b"!")
    for racer in racers:
        os.waitpid(racer, 0)
    assert sorted(os.read(done, len(racers)).decode()) == ["0"] * (len(racers) - 1) + ["1"]


def test_a_run_does_not_refuse_what_it_deploys_itself_and_keeps_its_cores_in_between() -> None:
    with claimed([0, 1]):
        for _ in range(2):
            CoreClaim.of([1]).release()
            blocked = Other(1)
            blocked.kill()
            assert not blocked.came
    after = Other(1)
    after.kill()
    assert after.came


def test_two_deployments_of_one_process_are_two(kept: Journal) -> None:
    """It polls for no less that the same weir has made it."""
    with claimed([2]), pytest.raises(FabricError, match=FIRST):
        CoreClaim.of([0])
    kept.remove()


@pytest.mark.parametrize("head", [{"journal": 1, "tune": {}}, {"journal": 99, "begin": {}}])
def test_a_tuned_host_and_what_cannot_be_read_have_no_cores(head: dict[str, object], run_root: Path) -> None:
    (run_root / f"{FIRST}.journal").write_text(json.dumps(head) + "\n")
    CoreClaim.of([0, 1]).release()
