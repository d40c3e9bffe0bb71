# SPDX-License-Identifier: Apache-2.0
"""The healthcheck of a real OpenStack: nine of nine, and with services that die a failed case with its cause.

Nothing of it is left either way, and nothing else is touched.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weir.cli.exits import FAILED, OK
from weir.results.verification import Verification

from .harness import place
from .inventory import listed
from .verifying import REAL, Processes, began, processes_of, sut, verified

pytestmark = REAL


@pytest.mark.usefixtures("untouched")
def test_nine_of_nine_pass_and_no_secret_is_told(tmp_path: Path) -> None:
    with Processes(place.password()) as processes:
        code, found, written = verified(sut(tmp_path))
    for one in found.values():
        print(f"{one.name}: {one.outcome} in {one.seconds:.1f} s, clean-up {one.clean_up_seconds:.1f} s")
    assert {name: (one.outcome, one.why) for name, one in found.items()} == dict.fromkeys(
        found, ("passed", None)
    )
    assert (code, len(found)) == (OK, 9)
    assert place.password() not in written
    assert "gAAAAA" not in written
    assert processes.seen == set()
    assert list((tmp_path / "journals").iterdir()) == []


@pytest.mark.usefixtures("untouched")
def test_a_user_without_rights_has_cases_skipped(tmp_path: Path) -> None:
    cases = ("connection_check", "tenantnetwork1", "tenantnetwork2")
    code, found, _ = verified(sut(tmp_path, cloud=place.MEMBER_CLOUD), *cases)
    assert [found[name].outcome for name in cases] == ["passed", "passed", "skipped"]
    assert code == OK
    assert "an administrator's rights" in (found["tenantnetwork2"].why or "")


@contextlib.contextmanager
def stopped(name: str) -> Iterator[None]:
    """A service that does nothing any more, for the body."""
    pids = processes_of(name)
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("service", "case", "why"),
    [
        ("nova-compute", "singlevm1", "server vm is still build after"),
        ("neutron-dhcp-agent", "singlevm1", "still build after|by SSH at"),
        ("neutron-server", "tenantnetwork1", "timed out|not begun within|not ended within"),
    ],
)
def test_a_service_that_hangs_fails_the_case_in_its_time_and_nothing_stays(
    service: str, case: str, why: str, cloud: Any, tmp_path: Path
) -> None:
    """What it could not remove meanwhile, the next run does."""
    before = listed(cloud)
    folder = sut(tmp_path, limit_s=45)
    with stopped(service):
        run = began(folder, "--case", case)
        deadline = time.monotonic() + 100
        while not (tmp_path / "out/verification.json").exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(50)
    said, complained = run.communicate(timeout=300)
    (found,) = Verification.model_validate_json(said).suites[0].cases
    assert (run.returncode, found.outcome) == (FAILED, "failed"), complained
    assert found.seconds < 60
    assert re.search(why, found.why or ""), found.why
    code, after, _ = verified(sut(tmp_path, limit_s=240), "tenantnetwork1")
    assert (code, after["tenantnetwork1"].outcome) == (OK, "passed")
    assert listed(cloud) == before


def test_killed_while_a_server_boots_it_leaves_what_the_next_run_removes(
    untouched: Any, tmp_path: Path
) -> None:
    run = began(sut(tmp_path), "--case", "vping_ssh")
    deadline = time.monotonic() + 120
    while not list(untouched.compute.servers()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    run.kill()
    run.communicate()
    assert len(list((tmp_path / "journals").glob("*.journal"))) == 1
    code, found, _ = verified(tmp_path, "connection_check")
    assert (code, found["connection_check"].outcome) == (OK, "passed")
    assert list((tmp_path / "journals").iterdir()) == []
