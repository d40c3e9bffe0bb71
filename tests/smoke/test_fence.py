# SPDX-License-Identifier: Apache-2.0
"""Programs that would harm the machine or get away: each is held by its limits, is said with its last words,
and nothing of it stays."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from weir import fabric
from weir.base.error import FabricError
from weir.fabric import markers
from weir.fabric.fidelity import without_limits
from weir.fabric.function import control_group
from weir.fabric.function.control_group import ControlGroup
from weir.lab import Lab
from weir.measure.one_case import Event
from weir.procedures.campaign import Campaign
from weir.report import render
from weir.results.result import Case, Trial
from weir.store.store import Store

from .killed import kill, survived
from .test_program import DRAIN_MS, DURATION_S, FORWARDER, GENTLE_PPS, program_lab
from .trials import standing, trials_of

HERE: dict[str, list[int]] = {"cores": []}
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(ControlGroup().lacking(HERE) is not None, reason="control groups cannot be made"),
]
EATER = "held = []\nprint('forwarding', flush=True)\nwhile True: held.append(bytearray(1 << 20))"
FORKER = """
import os, time
print("forwarding", flush=True)
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(1)
"""
GROUPS = Path("/sys/fs/cgroup")


def sleep() -> str:
    """Of this test alone."""
    return f"sleep {3600 + secrets.randbelow(10**6)}"


def running(command: str) -> bytes:
    return subprocess.run(["pgrep", "-f", f"^{command}$"], capture_output=True, check=False).stdout


def left_behind(run_root: Path) -> list[Path]:
    return [*run_root.iterdir(), *GROUPS.glob("weir-*"), *GROUPS.glob("*/weir-*")]


def refused_of(lab: Lab) -> str:
    """What is said of a program that does not do for a trial."""
    with pytest.raises(FabricError, match=r"program f1 \(default\)") as found:
        trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    return str(found.value)


def test_one_that_eats_all_memory_is_ended_at_its_limit_and_said(run_root: Path) -> None:
    lab = program_lab([sys.executable, "-c", EATER], memory_limit_mb=96)
    said = refused_of(lab)
    assert "has taken more than its 96 MB of memory, and the kernel has ended a process of it" in said
    assert "forwarding" in said
    assert "raise program.memory_limit_mb" in said
    assert left_behind(run_root) == []


def test_a_child_that_eats_all_memory_is_said_though_its_parent_lives(run_root: Path) -> None:
    script = f'echo forwarding; {sys.executable} -c "$0"; echo it ended; exec sleep 3600'
    said = refused_of(program_lab(["sh", "-c", script, EATER], memory_limit_mb=96, ready="it ended"))
    assert "has taken more than its 96 MB of memory" in said
    assert left_behind(run_root) == []


def test_one_that_forks_without_end_comes_to_its_limit_and_is_ended(run_root: Path) -> None:
    lab = program_lab([sys.executable, "-c", FORKER], processes=40)
    said = refused_of(lab)
    assert "has started more than its 40 processes and threads" in said
    assert "raise program.processes" in said
    assert left_behind(run_root) == []


def away(command: str) -> str:
    """A shell's words by which that runs in a session and a network namespace of its own, without the
    environment that it was given, as the child of nobody who knows it; and it ignores SIGTERM."""
    return f"(trap '' TERM; env -i setsid unshare -n setsid {command} > /dev/null 2>&1 &)"


@pytest.mark.long
def test_what_gets_out_of_session_namespace_and_environment_ends_with_it(run_root: Path) -> None:
    one, other = sleep(), sleep()
    lab = program_lab(
        ["sh", "-c", f'{away(one)}; exec "$@"', "sh", *FORWARDER],
        commands=[["sh", "-c", away(other)]],
        stop_time_limit_s=0.3,
    )
    with standing(lab, lambda _trial: None) as (deployment, _):
        assert deployment.topology is not None
        there = markers.inside(*(port.netns or "" for port in deployment.topology.ports))
        for command in (one, other):
            (pid,) = map(int, running(command).split())
            assert pid not in there
            assert markers.mark_of(pid) is None
    assert running(one) == running(other) == b""
    assert left_behind(run_root) == []


@pytest.mark.long
def test_what_a_killed_weir_has_left_of_it_is_ended_by_the_next(run_root: Path) -> None:
    command = sleep()
    lab = program_lab(["sh", "-c", f'{away(command)}; exec "$@"', "sh", *FORWARDER])

    def deploy_and_die() -> None:
        with standing(lab, lambda _trial: None):
            kill()

    assert not survived(deploy_and_die)
    assert running(command)
    assert len(fabric.clean_leftovers()) == 1
    assert running(command) == b""
    assert left_behind(run_root) == []


def test_a_weir_that_is_killed_as_it_makes_the_group_leaves_none(
    run_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_group, "limit", lambda *_args: kill())
    assert not survived(lambda: trials_of(program_lab(FORWARDER), 1, GENTLE_PPS, DURATION_S))
    assert [*GROUPS.glob("*/weir-*"), *GROUPS.glob("weir-*")] != []
    fabric.clean_leftovers()
    assert left_behind(run_root) == []


def test_garbage_that_it_sends_makes_no_trial_that_counts(run_root: Path) -> None:
    """Random bytes of every length, and frames cut short, beside what it forwards. What of it looks like the
    tester's packets is counted as malformed: more than were sent, so no rate may rest on it."""
    (trial,) = trials_of(program_lab([*FORWARDER, "garbage=3"]), 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    malformed = sum(one.packets for one in trial.drops if one.reason == "malformed")
    assert trial.delivered == trial.offered > 0
    assert trial.unaccounted == -malformed < 0
    assert not trial.valid
    more = f"{malformed} more packets than the {trial.offered} offered were delivered or lost"
    assert any(more in one for one in trial.invalid_because), trial.invalid_because
    assert left_behind(run_root) == []


def test_where_no_group_can_be_made_it_runs_and_that_is_said(
    run_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_group, "hierarchies", lambda _root: [])
    trials: list[Trial] = []
    with standing(program_lab(FORWARDER), trials.append, drain_ms=DRAIN_MS) as (deployment, runner):
        runner.run("curve", GENTLE_PPS, DURATION_S)
        (said,) = without_limits(deployment.unlimited())
    assert said.startswith("Program f1 has no limit of memory and no limit of processes and no way to end")
    (trial,) = trials
    assert trial.delivered == trial.offered > 0
    assert left_behind(run_root) == []


def test_where_one_can_be_made_nothing_is_said(run_root: Path) -> None:
    with standing(program_lab(FORWARDER), lambda _trial: None) as (deployment, _):
        assert deployment.unlimited() == {}
    assert left_behind(run_root) == []


class Silent:
    """Shows nothing."""

    def say(self, text: str) -> None:
        print(text, flush=True)  # shown if the test fails

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def setup(self, name: str) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


@pytest.mark.long
def test_what_it_says_is_kept_with_a_run_that_succeeds(run_root: Path, tmp_path: Path) -> None:
    """To its last words; as JSON and in the report, which name the file."""
    last = "trap 'echo 20 frames in all; exit 0' TERM"
    lab = program_lab(["bash", "-c", f'{last}; "$@" & wait', "bash", *FORWARDER], ready="forwarding")
    with Store(str(tmp_path / "results.db")) as store:
        run = Campaign(lab, quick=True, store=store, progress=Silent(), reports=lambda run: tmp_path / run)
        result = run.run()
        stored = store.load(result.id)
    (one,) = stored.setups[0].outputs
    assert (tmp_path / result.id / one.file).read_text() == "forwarding\n20 frames in all\n"
    assert (one.node, one.said_bytes, one.kept_bytes) == ("f1", 28, 28)
    for name in ("markdown", "json", "html"):
        assert one.file in render(stored, name)
    assert left_behind(run_root) == []
