# SPDX-License-Identifier: Apache-2.0
"""What a Weir that is killed had for itself alone ends with it, or is removed by the next one."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric import lock, markers
from weir.fabric.lock import Lock

SOON_S = 60.0


def killed_when(code: str, ready: Callable[[], bool], folder: Path) -> None:
    """Runs that Python, and kills it when it is ready."""
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(folder)}) as maker:
        try:
            until(lambda: ready() or maker.poll() is not None)
            assert maker.poll() is None
        finally:
            maker.send_signal(signal.SIGKILL)


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_stranger_whose_folder_it_worked_in_takes_no_part_when_it_is_taken_down(tmp_path: Path) -> None:
    here, run = tmp_path / "here", tmp_path / "run"
    (here / "weir").mkdir(parents=True)
    planted = f"open({str(tmp_path / 'planted')!r}, 'w').close()\n"
    (here / "weir/__init__.py").write_text(planted)
    (here / "typing.py").write_text(planted)
    code = f"""import os, time
from tests.fabric.test_core_claim import topology
from weir.fabric import lifeline
from weir.fabric.journal import Journal
os.environ["WEIR_RUN_DIR"] = {str(run)!r}
os.environ.pop(lifeline.OFF, None)
os.chdir({str(here)!r})
lifeline.hold()
journal = Journal.begin(topology())
time.sleep(600)"""
    killed_when(code, lambda: bool(list(run.glob("*.journal"))), tmp_path)
    until(lambda: not list(run.glob("*.journal")))
    assert not (tmp_path / "planted").exists()


def test_a_tool_carries_the_marker_and_ends_with_its_maker(tmp_path: Path) -> None:
    marker = f"lab-{os.getpid():08x}/ovs-tools"
    code = f"""from weir.fabric.process import run_tool
run_tool(["sleep", "600"], marker={marker!r}, env={{"PATH": "/usr/bin:/bin"}}, timeout_s=600)"""
    killed_when(code, lambda: bool(markers.marked(marker)), tmp_path)
    until(lambda: not markers.marked(marker))


def test_a_killed_lean_leaves_no_file(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    code = f"""import pathlib, time
from types import SimpleNamespace
from weir.fabric.lean import request_file
with request_file(SimpleNamespace(arguments=lambda: {{"area": "chain"}})) as path:
    pathlib.Path({str(ready)!r}).write_text(path.read_text())
    time.sleep(600)"""
    killed_when(code, lambda: ready.exists() and ready.stat().st_size > 0, tmp_path)
    assert ready.read_text() == '{"area": "chain"}'
    assert list(tmp_path.iterdir()) == [ready]


def test_the_next_maker_removes_what_a_killed_one_left_and_nothing_that_is_used(tmp_path: Path) -> None:
    code = f"""import pathlib, time
from weir.fabric.lock import scratch
with scratch(pathlib.Path({str(tmp_path)!r}), 'tree-') as made:
    (made / "ready").touch()
    time.sleep(600)"""
    killed_when(code, lambda: bool(list(tmp_path.glob("*/ready"))), tmp_path)
    (left,) = tmp_path.glob("*/")
    with lock.scratch(tmp_path, "tree-") as one:
        assert not left.exists()
        with lock.scratch(tmp_path, "tree-") as other:
            assert {*tmp_path.glob("*/")} == {one, other}
    assert list(tmp_path.iterdir()) == []


def test_whoever_holds_a_makers_folder_does_not_hold_its_maker(tmp_path: Path) -> None:
    """Anybody who can read a folder can lock it, and for ever."""
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with lock.scratch(tmp_path, "tree-") as made:
            locks = [path for path in tmp_path.iterdir() if path.is_file()]
            assert [oct(path.stat().st_mode)[-3:] for path in locks] == ["600"]
            assert made.is_dir()
    finally:
        os.close(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_maker_that_another_one_holds_up_ends_with_who_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_SCRATCH_WAIT_S", 0.05)
    held = Lock(tmp_path / "tree-all.lock")
    assert held.take()
    try:
        with (
            pytest.raises(FabricError, match=r"another weir holds .*all\.lock"),
            lock.scratch(tmp_path, "tree-"),
        ):
            pass
    finally:
        held.release()
