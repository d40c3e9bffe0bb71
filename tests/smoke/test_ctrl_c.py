# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, as a terminal sends it to a run and its children, and signals that ask it to end: it ends, keeps
what is done, leaves nothing."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.cli.exits import INTERRUPTED
from weir.fabric import stop_signals
from weir.plan import Step

from .running import Run
from .tiny import LAB, tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]


@pytest.fixture(params=["linux-bridge", pytest.param("ovs-dpdk", marks=pytest.mark.long)])
def run(request: pytest.FixtureRequest, tmp_path: Path, run_root: Path) -> Iterator[Run]:
    refusal = fabric.check(request.param)
    if refusal is not None:
        pytest.skip(f"{request.param} cannot run here: {refusal.missing}")
    started = Run(request.param, tmp_path, run_root)
    yield started
    started.remove()


def test_during_a_trial_and_again_while_everything_is_taken_down(run: Run, tmp_path: Path) -> None:
    run.until(lambda: '"do"' in run.journal())
    run.until_trials(5)
    run.press()
    run.until(lambda: '"ending"' in run.journal())
    before = run.trials()
    run.press()
    code, said = run.ended()
    assert code == INTERRUPTED, said
    assert said.count("interrupted by SIGINT: taking down what was built") == 1
    assert "interrupted: took everything down" in said
    assert "Traceback" not in said
    result = run.stored()
    assert result is not None
    assert result.interrupted
    assert result.finished_at is not None
    assert run.trials() == before >= 5
    assert [case.problem for case in result.setups[0].cases] == ["Interrupted before it was finished."]
    assert (tmp_path / "report/report.html").exists()
    run.surroundings.check("Ctrl-C twice")


def test_while_the_chain_is_built(run: Run) -> None:
    run.until(lambda: '"do"' in run.journal())
    run.press()
    code, said = run.ended()
    assert code == INTERRUPTED, said
    assert "interrupted" in said
    run.surroundings.check("Ctrl-C while building")


@pytest.fixture
def bridged(tmp_path: Path, run_root: Path) -> Iterator[Run]:
    started = Run("linux-bridge", tmp_path, run_root)
    yield started
    started.remove()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_a_time_out_or_a_service_manager_sends_is_as_ctrl_c(bridged: Run, number: int) -> None:
    bridged.until_trials(5)
    bridged.send(number)
    code, said = bridged.ended()
    assert code == INTERRUPTED, said
    assert "interrupted" in said
    assert "Traceback" not in said
    result = bridged.stored()
    assert result is not None
    assert result.interrupted
    bridged.surroundings.check(signal.Signals(number).name)


def test_a_terminal_that_is_gone_ends_it_and_writing_to_that_ends_nothing() -> None:
    """As when a connection by SSH breaks: nobody reads, and each write is an error."""
    program = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from weir.fabric import stop_signals
try:
    with stop_signals.held():
        print("ready", flush=True)
        while True:
            stop_signals.check()
except KeyboardInterrupt:
    print("taking down", flush=True)
    os.write(int(sys.argv[1]), b"all down")
"""
    reader, writer = os.pipe()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(writer)],
        stdin=theirs, stdout=theirs, stderr=theirs, pass_fds=[writer], start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    os.close(writer)
    assert b"ready" in os.read(ours, 100)
    os.close(ours)
    assert os.read(reader, 100) == b"all down"
    assert process.wait(10) == 0
    os.close(reader)


@pytest.mark.parametrize("words", [["deploy", str(LAB), "--technology", "linux-bridge"], ["doctor"]])
def test_while_a_netlink_socket_is_made_it_ends_as_everywhere(words: list[str], run_root: Path) -> None:
    """There, it would be swallowed, or leave an event loop half made."""
    program = """
import asyncio.selector_events, os, signal
from weir.cli.main import main

loops = asyncio.selector_events.BaseSelectorEventLoop
make = loops._make_self_pipe

def press_and_make(loop):
    loops._make_self_pipe = make
    os.kill(os.getpid(), signal.SIGINT)
    make(loop)

loops._make_self_pipe = press_and_make
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, "weir: interrupted\n")
    assert list(run_root.iterdir()) == []


def test_in_the_last_step_of_what_would_be_kept_all_is_undone(run_root: Path) -> None:
    lab = tiny_lab("direct")
    about = plan.tuning(lab, "1a2b3c4d")
    last = Step(
        kind="run-directory",
        name="run-directory",
        params={"deployment": about.deployment, "lab": lab.name},
        text="make it",
        undo_text="remove it",
    )

    def press(event: fabric.Event) -> None:
        if event.state == "done":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), stop_signals.held():
        fabric.Deployment.deploy([last], about, on_event=press).keep()
    assert fabric.deployments() == []
    assert not any(path.is_dir() for path in run_root.iterdir())


@pytest.mark.long
def test_just_as_a_chain_is_kept_all_is_undone(run_root: Path) -> None:
    program = """
import os, signal
from weir import fabric
from weir.cli.main import main

keep = fabric.Deployment.keep

def keep_and_be_asked_to_end(deployment):
    keep(deployment)
    os.kill(os.getpid(), signal.SIGTERM)

fabric.Deployment.keep = keep_and_be_asked_to_end
main()
"""
    words = ["deploy", str(LAB), "--technology", "direct"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == INTERRUPTED, done.stderr
    assert fabric.deployments() == []
    assert list(run_root.iterdir()) == []
