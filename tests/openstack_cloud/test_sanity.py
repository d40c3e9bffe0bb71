# SPDX-License-Identifier: Apache-2.0
"""Scenarios of a real OpenStack by Rally: 50 of 56, and killed or hanging ones leave nothing."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from weir.cli.exits import OK
from weir.fabric import markers
from weir.results.verification import Verification

from .harness import place
from .verifying import REAL, Processes, began, sut, verified

pytestmark = REAL
needs_rally = pytest.mark.skipif(
    importlib.util.find_spec("rally_openstack") is None, reason="no Rally is installed here: make rally"
)


@needs_rally
@pytest.mark.usefixtures("untouched")
def test_fifty_scenarios_of_56_pass_and_no_secret_is_told(tmp_path: Path) -> None:
    with Processes(place.password()) as processes:
        _, found, written = verified(sut(tmp_path, suite="sanity"))
    for one in found.values():
        print(f"{one.name}: {one.outcome} in {one.seconds:.1f} s, clean-up {one.clean_up_seconds:.1f} s")
    passed = [name for name, one in found.items() if one.outcome == "passed"]
    print(f"{len(passed)} of {len(found)} scenarios passed")
    missed = {name: one.why for name, one in found.items() if name not in passed}
    assert len(found) == 56
    assert len(passed) >= 50, missed
    assert all(missed.values())
    assert place.password() not in written
    assert "gAAAAA" not in written
    assert processes.seen == set()
    assert list((tmp_path / "journals").iterdir()) == []


BOOT = "NovaServers.boot_server_and_list_interfaces"


def rally_of(folder: Path) -> list[int]:
    """Processes of scenarios whose journal is there."""
    return [
        pid
        for path in (folder / "journals").glob("*.journal")
        for pid in markers.marked(f"weir-{path.stem}/rally")
    ]


def booting(cloud: Any) -> None:
    """Until a server is there."""
    deadline = time.monotonic() + 240
    while not list(cloud.compute.servers(all_projects=True)):
        assert time.monotonic() < deadline
        time.sleep(0.2)


@needs_rally
def test_a_rally_that_is_killed_fails_its_case_and_what_it_made_is_removed(
    untouched: Any, tmp_path: Path
) -> None:
    run = began(sut(tmp_path, suite="sanity"), "--case", BOOT, "--case", "Authenticate.keystone")
    booting(untouched)
    for pid in rally_of(tmp_path):
        os.kill(pid, signal.SIGKILL)
    said, complained = run.communicate(timeout=600)
    other, found = Verification.model_validate_json(said).suites[0].cases
    assert (other.outcome, found.outcome) == ("passed", "failed"), complained
    assert (found.why or "").startswith("Rally ended with signal 9, and no report"), found.why
    assert found.not_removed is None
    assert list((tmp_path / "journals").iterdir()) == []


@needs_rally
def test_a_rally_that_hangs_is_ended_in_its_time(untouched: Any, tmp_path: Path) -> None:
    run = began(sut(tmp_path, suite="sanity", limit_s=120), "--case", BOOT)
    booting(untouched)
    for pid in rally_of(tmp_path):
        os.kill(pid, signal.SIGSTOP)
    said, _ = run.communicate(timeout=600)
    (found,) = Verification.model_validate_json(said).suites[0].cases
    assert found.outcome == "failed"
    assert "has not ended within" in (found.why or "")
    assert found.seconds < 150
    assert list((tmp_path / "journals").iterdir()) == []


@needs_rally
def test_killed_within_a_scenario_it_leaves_what_the_next_run_removes(untouched: Any, tmp_path: Path) -> None:
    run = began(sut(tmp_path, suite="sanity"), "--case", BOOT)
    booting(untouched)
    run.kill()
    run.communicate()
    assert len(list((tmp_path / "journals").glob("*.journal"))) == 1
    code, found, _ = verified(tmp_path, "Authenticate.keystone")
    assert (code, found["Authenticate.keystone"].outcome) == (OK, "passed")
    assert list((tmp_path / "journals").iterdir()) == []


@needs_rally
def test_a_user_without_rights_has_no_scenarios_done(tmp_path: Path) -> None:
    _, found, _ = verified(sut(tmp_path, cloud=place.MEMBER_CLOUD, suite="sanity"), "Authenticate.keystone")
    assert found["Authenticate.keystone"].outcome == "skipped"
    assert "an administrator's rights" in (found["Authenticate.keystone"].why or "")
