# SPDX-License-Identifier: Apache-2.0
"""Processes of another user, whose environment the kernel hides from root without CAP_SYS_PTRACE."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from weir import plan
from weir.base.error import FabricError
from weir.base.started import Started
from weir.fabric import markers, process
from weir.fabric.journal import Journal
from weir.fabric.probe import sees_other_users
from weir.fabric.site import Site
from weir.lab import Lab
from weir.plan import Step

NAME = f"x-{os.getpid():08x}"
MARKER = f"{NAME}/vm:f1"
USER = 61183
# What is not in the bounding set, exec(2) does not give to root. Newer kernels ask for others of these.
_CAPABILITIES = "-sys_ptrace,-perfmon,-sys_admin"
WITHOUT = ["setpriv", f"--bounding-set={_CAPABILITIES}", f"--inh-caps={_CAPABILITIES}", "--"]

_SCRIPT = """
import sys
from weir.fabric import ending, markers
from weir.base.error import FabricError
from weir.fabric.probe import sees_other_users
from weir.base.started import Started

marker, user, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print(markers.marked(marker), markers.marked(marker, user + 1))
try:
    markers.marked(marker, user)
except FabricError as error:
    print(error)
journalled = {Started.of(pid): marker}
print(markers.marked(marker, user, journalled) == [pid], markers.marked("other", user, journalled))
ending.end_marked(marker, user, journalled)
"""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="starts a process of another user: run as root")
def test_where_the_kernel_hides_a_marker_the_journal_names_the_process_or_it_is_an_error() -> None:
    with subprocess.Popen(
        ["sleep", "60"],
        env={"PATH": os.defpath, markers.MARKER: MARKER},
        user=USER,
        group=USER,
        extra_groups=[],
    ) as hidden:
        try:
            done = subprocess.run(
                [*WITHOUT, sys.executable, "-c", _SCRIPT, MARKER, str(USER), str(hidden.pid)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            assert hidden.wait(30) < 0
        finally:
            hidden.kill()
    silent, error, journalled = done.stdout.splitlines()
    assert silent == "[] []"
    assert error.startswith(
        f"the kernel hides whose process {hidden.pid} of user {USER} is: Permission denied"
    )
    assert "CAP_SYS_PTRACE" in error
    assert journalled == "True []"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="starts a process of another user: run as root")
def test_whether_the_kernel_hides_them_is_known_before_there_is_any() -> None:
    ask = "from weir.fabric.probe import sees_other_users; print(sees_other_users())"
    done = subprocess.run([*WITHOUT, sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert sees_other_users()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, list[int]]]:
    """At the first of two steps that have journalled a process each, which the kernel hides; their pids."""
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path))
    lab = Lab.model_validate({"weir": 1, "name": "x", "chain": "PVP", "technology": ["direct"]})
    journal = Journal.begin(plan.build_topology(lab, "direct", lab.chains()[0], NAME))
    made, pids = Site(NAME, tmp_path / NAME, journal), []
    steps = [
        Step(kind="vm", name=f"vm:{node}", params={"node": node}, text="", undo_text="")
        for node in ("f1", "f2")
    ]
    for step in steps:
        journal.write({"do": step.model_dump()})
        made.at(step)
        pid = process.spawn(
            ["sleep", "60"], marker=made.marker(), netns=None, env={}, cores=[], log=tmp_path / "log"
        )
        pids.append(pid)
        started = Started.of(pid)
        assert started is not None
        made.note({"started": asdict(started)})
    made.at(steps[0])
    read = markers._environment_mark

    def hides(pid: int, proc: Path) -> str | None:
        if pid in pids:
            raise PermissionError(13, "Permission denied")
        return read(pid, proc)

    monkeypatch.setattr(markers, "_environment_mark", hides)
    monkeypatch.setattr(markers, "user_of", lambda pid: USER if pid in pids else None)
    yield made, pids
    for pid in pids:
        if pid in process._children:
            process.finish(pid, 9, 30)
    journal.remove()


def test_a_step_ends_the_hidden_process_that_it_has_journalled_and_no_other_steps(
    site: tuple[Site, list[int]],
) -> None:
    made, (its, others) = site
    made.end(USER)
    assert not process.alive(its)
    assert process.alive(others)


def test_a_later_process_of_a_journalled_number_is_not_ended(site: tuple[Site, list[int]]) -> None:
    made, (its, _) = site
    started = Started.of(its)
    assert started is not None
    made.note({"started": {"pid": its, "start_ticks": started.start_ticks - 1}})
    with pytest.raises(FabricError, match=f"the kernel hides whose process {its} "):
        made.end(USER)
    assert process.alive(its)


def test_one_that_is_gone_was_never_started() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert Started.of(ended.pid) is None
