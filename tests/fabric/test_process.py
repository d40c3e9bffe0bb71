# SPDX-License-Identifier: Apache-2.0
"""Processes are found and ended by their marker, and by nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric import ending, markers, process

MARKER = f"lab-{os.getpid():08x}/weir-dp"


def spawn(argv: list[str], marker: str, log: Path) -> int:
    return process.spawn(argv, marker=marker, netns=None, env={}, cores=[], log=log)


@pytest.fixture
def others() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes with markers that are almost ours."""
    almost = [MARKER + "x", MARKER[:-1], "x" + MARKER, MARKER.upper()]
    started = [
        subprocess.Popen(["sleep", "60"], env=os.environ | {markers.MARKER: marker}) for marker in almost
    ]
    # The marker as another variable's value, and as an argument.
    started.append(
        subprocess.Popen(
            ["sh", "-c", "read line", f"{markers.MARKER}={MARKER}"],
            env={"X": f"{markers.MARKER}={MARKER}"},
            stdin=subprocess.PIPE,
        )
    )
    yield started
    for one in started:
        one.kill()
        one.wait()
        if one.stdin:
            one.stdin.close()


def test_only_the_exact_marker_is_ended(tmp_path: Path, others: list[subprocess.Popen[bytes]]) -> None:
    pids = [spawn(["sleep", "60"], MARKER, tmp_path / "log") for _ in range(2)]
    assert sorted(markers.marked(MARKER)) == sorted(pids)
    ending.end_marked(MARKER)
    assert markers.marked(MARKER) == []
    assert not any(process.alive(pid) for pid in pids)
    assert all(one.poll() is None for one in others)
    ending.end_marked(MARKER)


def test_children_of_a_marked_process_end_with_it(tmp_path: Path) -> None:
    spawn(["sh", "-c", "sleep 60 & echo started; wait"], MARKER, tmp_path / "log")
    while "started" not in (tmp_path / "log").read_text():
        pass
    assert len(markers.marked(MARKER)) == 2
    ending.end_marked(MARKER)
    assert markers.marked(MARKER) == []


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "TERM_S", 0.2)
    ignoring = "trap '' TERM; echo started; while :; do sleep 0.05; done"
    pid = spawn(["sh", "-c", ignoring], MARKER, tmp_path / "log")
    while "started" not in (tmp_path / "log").read_text():
        pass
    ending.end_marked(MARKER)
    assert not process.alive(pid)


FORGED = 5
_FORGER = f"""
import os, subprocess, sys, time

def forged():
    return subprocess.Popen(["sleep", "60"], env=os.environ | {{"{markers.MARKER}": sys.argv[1]}})

there = [forged() for _ in range({FORGED})]
print("all are there", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    there = [forged() if one.poll() is not None else one for one in there]
"""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="starts processes of another user: run as root")
def test_what_another_user_starts_with_the_marker_again_and_again_is_not_waited_for(tmp_path: Path) -> None:
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    own = [spawn(["sleep", "60"], MARKER, tmp_path / "log")]
    own.append(spawn([*as_nobody, "sleep", "60"], MARKER, tmp_path / "log"))  # gave up its rights
    with subprocess.Popen(
        [*as_nobody, sys.executable, "-c", _FORGER, MARKER], stdout=subprocess.PIPE, text=True
    ) as forger:
        try:
            assert forger.stdout is not None
            assert forger.stdout.readline() == "all are there\n"
            deadline = time.monotonic() + 10  # one that is in the middle of exec(2) has no environment
            while len(markers.marked(MARKER)) != len(own) + FORGED:
                assert time.monotonic() < deadline
            ending.end_marked(MARKER)
            assert not any(process.alive(pid) for pid in own)
            assert markers.marked(MARKER), "the forger has stopped: nothing was shown"
        finally:
            forger.kill()
            ending.end_marked(MARKER)


def test_what_ours_start_in_their_last_moments_ends_too(tmp_path: Path) -> None:
    last_words = "trap '(trap - TERM; exec sleep 60) & exit' TERM; echo started; while :; do sleep 0.05; done"
    spawn(["sh", "-c", last_words], MARKER, tmp_path / "log")
    while "started" not in (tmp_path / "log").read_text():
        pass
    ending.end_marked(MARKER)
    assert markers.marked(MARKER) == []


def test_a_program_that_is_not_there_is_a_fabric_error(tmp_path: Path) -> None:
    with pytest.raises(FabricError, match="cannot start"):
        spawn(["/nonexistent/weir-dp"], MARKER, tmp_path / "log")
    assert markers.marked(MARKER) == []


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts: run as root")
def test_what_a_program_leaves_in_tmp_goes_with_its_server_and_its_files_stay_in_view(tmp_path: Path) -> None:
    server, name = tmp_path / "server", f"left-{os.getpid()}"
    (server / "tmp").mkdir(parents=True)
    (server / "seen").write_text("its own file")
    pid = process.spawn(
        ["sh", "-c", f"ls /tmp; mkfifo /tmp/{name}; cat {server}/seen seen"],
        marker=MARKER, netns=None, env={}, cores=[], log=server / "log", directory=server,
        temporary=server / "tmp",
    )  # fmt: skip
    while process.alive(pid):
        time.sleep(0.01)
    assert process.exit_code(pid) == 0, (server / "log").read_text()
    assert (server / "log").read_text().endswith("its own file" * 2)
    assert (server / "tmp" / name).is_fifo()
    assert not Path("/tmp", name).exists()


def test_what_a_program_says_need_not_be_text() -> None:
    done = process.run_tool(
        ["printf", r"\377 and more"], marker=MARKER, env={"PATH": "/usr/bin:/bin"}, timeout_s=60
    )
    assert done.stdout == "\N{REPLACEMENT CHARACTER} and more"


def test_a_program_that_never_stops_talking_is_ended_with_what_it_said_so_far() -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    done = process.run_tool(["yes"], marker=MARKER, env=environment, timeout_s=60, most_bytes=5000)
    assert (done.returncode, len(done.stdout), done.stderr) == (-signal.SIGXFSZ, 5000, "")
    short = ["sh", "-c", "echo said; echo complained >&2; exit 3"]
    done = process.run_tool(short, marker=MARKER, env=environment, timeout_s=60, most_bytes=5000)
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\n", "complained\n")


def test_a_working_directory_that_is_gone_is_named_and_not_the_program(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(FabricError, match=f"cannot start true: its working directory {gone} is not there"):
        process.spawn(
            ["true"], marker=MARKER, netns=None, env={}, cores=[], log=tmp_path / "log", directory=gone
        )
