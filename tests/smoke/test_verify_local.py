# SPDX-License-Identifier: Apache-2.0
"""`weir verify` of Weir's own cloud: nine of nine, and with a service that is broken a failed case with its
cause; nothing is left behind either way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.weir_command import WEIR
from weir.cli.exits import FAILED, INTERRUPTED, OK
from weir.fabric import clean_leftovers, markers, namespace
from weir.fabric.cloud.system.tree import lacking
from weir.lab.sut import SutFile
from weir.results.verification import Verification
from weir.verify.driver import CleanUp, CloudError, StackWanted
from weir.verify.drivers.local import LocalDriver

from .clouds import NEEDS_CLOUDS

pytestmark = [
    *NEEDS_CLOUDS,
    pytest.mark.skipif(lacking() is not None, reason=f"no system for instances: {lacking()}"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="openssh-client is not installed"),
]

BOOT = "NovaServers.boot_server_and_list_interfaces"
SUT = """weir: 1
name: tiny
suites: [healthcheck]
local: {{compute_nodes: {nodes}, security: {security}, isolation: {isolation}}}
case_time_limit_s: 60
sla: {{time_s: {{max: 60}}}}
"""


@pytest.fixture
def untouched(run_root: Path) -> Iterator[Path]:
    """Nothing of it is left: no journal, no namespace that was not there before."""
    before = {path.name for path in namespace.DIRECTORY.iterdir()} if namespace.DIRECTORY.is_dir() else set()
    yield run_root
    assert list(run_root.glob("*.journal")) == []
    assert {path.name for path in namespace.DIRECTORY.iterdir()} <= before


def sut(folder: Path, security: str = "none", isolation: str = "vxlan", nodes: int = 1) -> Path:
    (folder / "sut.yml").write_text(SUT.format(nodes=nodes, security=security, isolation=isolation))
    return folder


def only(*names: str) -> list[str]:
    """Options that choose cases."""
    return [word for name in names for word in ("--case", name)]


def verify(folder: Path, *more: str, **environment: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    out = folder / "out"
    place = [] if "--resume" in more else ["-o", str(out)]
    done = subprocess.run(
        [*WEIR, "verify", str(folder), "--json", *more, *place],
        capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    return done, out


@pytest.mark.long
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("security", "isolation", "nodes"),
    [("bridge-filter", "vxlan", 2), pytest.param("ovs-conntrack", "gre", 1, marks=pytest.mark.slow)],
)
def test_nine_of_nine_pass_and_the_reports_say_so(
    security: str, isolation: str, nodes: int, tmp_path: Path
) -> None:
    done, out = verify(sut(tmp_path, security, isolation, nodes))
    assert done.returncode == OK, done.stderr
    found = Verification.model_validate_json(done.stdout)
    cases = found.suites[0].cases
    assert [(one.name, one.outcome, one.why) for one in cases] == [
        (one.name, "passed", None) for one in cases
    ]
    assert len(cases) == 9
    assert [one.outcome for one in found.verdicts()] == ["met", "met"]
    assert all(one.seconds > 0 and one.clean_up_seconds > 0 and one.operations for one in cases)
    root = ElementTree.fromstring((out / "junit.xml").read_text())
    assert [one.get("failures") for one in root] == ["0", "0"]
    assert "9 of 9 cases passed" in (out / "report.html").read_text()


@pytest.mark.long
@pytest.mark.usefixtures("untouched")
def test_scenarios_are_done_on_real_networks_and_a_server_lists_its_interfaces(tmp_path: Path) -> None:
    routers, interfaces = "NeutronNetworks.create_and_delete_routers", BOOT
    done, _ = verify(sut(tmp_path), "--suite", "sanity", *only(routers, interfaces, "Authenticate.keystone"))
    assert done.returncode == OK, done.stderr
    found = {one.name: one for one in Verification.model_validate_json(done.stdout).suites[0].cases}
    outcomes = {name: one.outcome for name, one in found.items()}
    assert outcomes == {"Authenticate.keystone": "skipped", routers: "passed", interfaces: "passed"}
    for name, last in ((routers, "take it down"), (interfaces, "list its interfaces, by SSH")):
        load = found[name].scenario
        assert load is not None
        assert load.operations[-1].name == last
        assert all(one.p50_s is not None and one.p50_s > 0 for one in load.operations)


def broken(folder: Path, name: str, script: str) -> dict[str, str]:
    """An environment in which a program is another one."""
    there = folder / "bin"
    there.mkdir(exist_ok=True)
    (there / name).write_text(f"#!/bin/sh\n{script}\n")
    (there / name).chmod(0o755)
    return {"PATH": f"{there}:{os.environ['PATH']}"}


@pytest.mark.slow
@pytest.mark.usefixtures("untouched")
def test_a_dhcp_server_that_knows_nobody_fails_what_needs_an_address_with_that_cause(tmp_path: Path) -> None:
    real = shutil.which("dnsmasq")
    keep = 'case $word in --dhcp-host=*) ;; *) set -- "$@" "$word" ;; esac'
    script = f'for word; do shift; {keep}; done\nexec {real} "$@"'
    cases = only("tenantnetwork1", "singlevm1")
    done, _ = verify(sut(tmp_path), *cases, **broken(tmp_path, "dnsmasq", script))
    assert done.returncode == FAILED, done.stderr
    found = {case.name: case for case in Verification.model_validate_json(done.stdout).suites[0].cases}
    assert found["singlevm1"].outcome == "failed"
    assert "got no address by DHCP" in (found["singlevm1"].why or "")
    assert found["tenantnetwork1"].outcome == "passed"


@pytest.mark.slow
def test_a_switch_that_dies_in_the_middle_of_a_case_fails_it_and_the_next_ones_go_on(
    tmp_path: Path, untouched: Path
) -> None:
    cases = only("connection_check", "tenantnetwork1", "tenantnetwork2", "vmready1")
    run = subprocess.Popen(
        [*WEIR, "verify", str(sut(tmp_path)), "--json", *cases, "-o", str(tmp_path / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    seen: set[Path] = set()
    killed = None
    deadline = time.monotonic() + 200
    while run.poll() is None and time.monotonic() < deadline:
        for socket in untouched.glob("tiny-verify-*/ovs-network/br-int.mgmt"):
            if socket in seen or killed is not None:
                continue
            seen.add(socket)
            (pid,) = markers.marked(f"{socket.parents[1].name}/ovs-vswitchd:network")
            if len(seen) == 3:
                os.kill(pid, signal.SIGKILL)
                killed = pid
        time.sleep(0.01)
    said, complained = run.communicate(timeout=60)
    assert run.returncode == FAILED, complained
    found = Verification.model_validate_json(said).suites[0].cases
    failed = [one for one in found if one.outcome == "failed"]
    assert [one.name for one in failed] == [found[2].name]
    assert failed[0].why
    assert all(one.not_removed is None for one in found)


def outcomes(out: Path) -> list[str]:
    """Of a run's cases so far."""
    path = out / "verification.json"
    found: list[dict[str, str]] = json.loads(path.read_text())["suites"][0]["cases"] if path.exists() else []
    return [one["outcome"] for one in found]


@pytest.mark.long
def test_ctrl_c_takes_down_what_stands_and_resume_runs_the_rest(tmp_path: Path, untouched: Path) -> None:
    out = tmp_path / "out"
    cases = only("connection_check", "tenantnetwork1", "vmready1", "vping_ssh")
    run = subprocess.Popen(
        [*WEIR, "verify", str(sut(tmp_path)), *cases, "-o", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 100
    while outcomes(out)[:2] != ["passed", "passed"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    said, complained = run.communicate(timeout=60)
    assert run.returncode == INTERRUPTED, complained
    assert "Interrupted: " in said
    assert list(untouched.glob("*.journal")) == []
    first = Verification.model_validate_json((out / "verification.json").read_text())
    kept = [one for one in first.suites[0].cases if one.outcome == "passed"]
    assert 2 <= len(kept) < 4
    done, _ = verify(tmp_path, "--resume", str(out))
    assert done.returncode == OK, done.stderr
    second = Verification.model_validate_json(done.stdout)
    assert second.id == first.id
    assert [one.outcome for one in second.suites[0].cases] == ["passed"] * 4
    assert second.suites[0].cases[: len(kept)] == kept
    again, _ = verify(tmp_path, "--resume", str(out))
    assert (again.returncode, "has run all its cases" in again.stderr) == (2, True)


@pytest.mark.long
def test_killed_in_a_case_it_leaves_what_the_next_weir_removes(tmp_path: Path, untouched: Path) -> None:
    run = subprocess.Popen(
        [*WEIR, "verify", str(sut(tmp_path)), "-o", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (found := list(untouched.glob("tiny-verify-*/ovs-compute1/br-int.mgmt"))):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.kill()
    run.wait()
    (folder,) = (one for one in untouched.glob("verify_*") if one.is_dir())
    removed: list[str] = []
    while list(untouched.glob("*.journal")):  # a tool that it had just started still holds its lock
        assert time.monotonic() < deadline
        removed += clean_leftovers()
        time.sleep(0.1)
    assert sorted(removed) == sorted([found[0].parents[1].name, f"the folder {folder}"])


@pytest.mark.long
def test_a_dry_run_names_the_cases_and_needs_no_root(tmp_path: Path) -> None:
    done = subprocess.run(
        [*WEIR, "verify", str(sut(tmp_path)), "--dry-run"], capture_output=True, text=True, check=False
    )
    assert done.returncode == OK
    assert "vping_userdata" in done.stdout
    unknown = subprocess.run(
        [*WEIR, "verify", str(tmp_path), "--suite", "healthchek"], capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert "did you mean healthcheck?" in unknown.stderr


@pytest.mark.usefixtures("untouched")
def test_a_cloud_that_does_not_stand_in_time_is_no_further_built_and_taken_down(tmp_path: Path) -> None:
    driver = LocalDriver(SutFile(weir=1, name="tiny"), tmp_path)
    with (
        pytest.raises(CloudError, match=r"^the cloud does not stand within 0\.1 s; next, \w+") as told,
        driver.stack(StackWanted(), 0.1),
    ):
        pytest.fail("it stands")
    assert CleanUp.of(told.value).seconds > 0
