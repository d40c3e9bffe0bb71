# SPDX-License-Identifier: Apache-2.0
"""A run that is still measured is told from one that was killed, where its program can be looked for."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from weir.store import listing
from weir.store.store import Store
from weir.store.writer import Unfinished, Writer, unfinished

from .made import run


def states(path: Path) -> list[Unfinished | None]:
    with Store(path, reading=True) as store:
        return [one.unfinished for one in listing.runs(store)]


def begun_and_left_by_a_child(path: Path) -> int:
    """Pid of a process that has begun a run and stands."""
    said, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        with Store(path) as store:
            store.begin(run())
            os.write(says, b".")
            signal.pause()
    os.read(said, 1)
    return pid


def test_it_is_measured_until_its_program_is_killed(path: Path) -> None:
    Store(path).close()
    pid = begun_and_left_by_a_child(path)
    assert states(path) == ["measured"]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert states(path) == ["killed"]


def test_what_has_ended_is_in_neither_state(path: Path) -> None:
    with Store(path) as store:
        store.begin(run("ended-1", "ended"))
        store.begin(run("stopped-1", "stopped"))
        ended = store.load("ended-1")
        ended.finished_at = "2026-11-27T12:00:00+00:00"
        store.update(ended)
        stopped = store.load("stopped-1")
        stopped.interrupted, stopped.finished_at = True, None
        store.update(stopped)
    assert states(path) == [None, None]


def test_a_run_that_goes_on_has_the_program_that_measures_it_now(path: Path) -> None:
    Store(path).close()
    pid = begun_and_left_by_a_child(path)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with Store(path) as store:
        store.reopen_run("switching-1")
        assert states(path) == ["measured"]


@pytest.mark.parametrize(
    ("other", "state"),
    [
        ({}, "measured"),
        ({"start_ticks": 1}, "killed"),  # a later process has its number
        ({"boot_id": "another"}, "killed"),
        ({"pid_namespace": "pid:[1]"}, "unknown"),
        ({"node": "elsewhere", "boot_id": "another"}, "unknown"),
        ({"start_ticks": 0}, "unknown"),
    ],
)
def test_nobody_is_taken_for_another(other: dict[str, object], state: Unfinished) -> None:
    assert replace(Writer.here(), **other).state() == state  # type: ignore[arg-type]


@pytest.mark.parametrize("stored", [None, "", "[]", "{}", '{"node": 1}', "no JSON"])
def test_what_older_weirs_or_nobody_wrote_says_nothing(stored: str | None) -> None:
    assert unfinished(stored) == "unknown"
