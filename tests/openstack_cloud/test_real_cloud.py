# SPDX-License-Identifier: Apache-2.0
"""`weir verify` of a real OpenStack on this host, whose servers are emulated (QEMU TCG): nine of nine and 50
scenarios of 56, and with services that die a failed case with its cause. Nothing of it is left either way,
and nothing else is touched."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.weir_command import WEIR
from weir.cli.exits import FAILED, OK
from weir.fabric import process
from weir.results.verification import CaseResult, Verification
from weir.verify.drivers.openstack.kinds import KINDS
from weir.verify.report.chains import summary

from .harness import container, place

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("keystone-manage") is None, reason="no OpenStack is installed here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]
SUT = """weir: 1
name: zed
description: OpenStack Zed on this host, servers emulated (QEMU TCG)
driver: openstack
openstack:
  cloud: {cloud}
  external_network: public
  image: {image}
  flavor: {flavor}
  ssh_user: root
  chains: {{interface: {interface}}}
suites: [{suite}]
case_time_limit_s: {limit_s}
"""
PERFORMANCE = """performance:
  chains: [PVP, PVVP]
  techniques: [generic, unfiltered, pinned]
  traffic: {frames: [64]}
  goals: [{name: PDR, loss_ratio: 0.005}]
  latency: {loads: [50% PDR], duration_s: 0.5, settle_s: 0.2}
  trial: {backlog_ms: 50}
"""
"""Of emulated servers: delays of 10 ms and more are their processors', and no queue's."""


@pytest.fixture(scope="session")
def cloud() -> Iterator[Any]:
    """It stands; one that stood before stays."""
    ours = container.alive() is None
    if ours:
        print(f"\nOpenStack is up in {container.begin():.0f} s")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    import openstack

    yield openstack.connect(cloud=place.CLOUD)
    if ours:
        container.end()


def listed(cloud: Any) -> dict[str, set[str]]:
    """Identifiers of all that there is of each kind, with when it was changed last where that is told."""
    found = {}
    projects = {one.id for one in cloud.identity.projects()}
    for name, kind in KINDS.items():
        every = (
            {"all_projects": True} if name == "server" else {"is_public": None} if name == "flavor" else {}
        )
        things = list(getattr(getattr(cloud, kind.service), kind.plural)(**every))
        if name == "security group":  # Neutron makes each project one when that asks for the first time
            things = [one for one in things if one.name != "default" or one.project_id not in projects]
        found[name] = {f"{one.id} {getattr(one, 'revision_number', '')}" for one in things}
    for service, plural, every in OF_SCENARIOS:
        found[plural] = {str(one.id) for one in getattr(getattr(cloud, service), plural)(**every)}
    return found


OF_SCENARIOS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("identity", "users", {}), ("identity", "roles", {}), ("identity", "services", {}),
    ("compute", "server_groups", {"all_projects": True}),
    ("block_storage", "volumes", {"all_projects": True}),
    ("block_storage", "snapshots", {"all_projects": True}), ("block_storage", "types", {}),
)  # fmt: skip
"""What a cloud has that only scenarios touch."""


@pytest.fixture
def untouched(cloud: Any) -> Iterator[Any]:
    """All of the cloud is afterwards as it was before, look-alikes among it."""
    network = cloud.network.create_network(name="weir-c0ffee-own-network", description="somebody else's")
    group = cloud.network.create_security_group(name="weir-0123456789ab-group", description="Weir's? No.")
    router = cloud.network.create_router(name="weir-0123456789ab-own-router")
    key = cloud.compute.create_keypair(name="weir-0123456789ab-key")
    before = listed(cloud)
    yield cloud
    after = listed(cloud)
    for name, delete in (
        (network, cloud.network.delete_network), (group, cloud.network.delete_security_group),
        (router, cloud.network.delete_router), (key, cloud.compute.delete_keypair),
    ):  # fmt: skip
        delete(name)
    assert after == before


def sut(folder: Path, *, cloud: str = place.CLOUD, limit_s: int = 240, suite: str = "healthcheck") -> Path:
    text = SUT.format(
        cloud=cloud, image=place.IMAGE, flavor=place.FLAVOR, limit_s=limit_s, suite=suite,
        interface=place.TESTER_LINK,
    )  # fmt: skip
    (folder / "sut.yml").write_text(text + (PERFORMANCE if suite == "performance" else ""))
    return folder


def began(folder: Path, *more: str) -> subprocess.Popen[str]:
    shutil.rmtree(folder / "out", ignore_errors=True)
    environment = os.environ | {"WEIR_CLOUD_JOURNALS": str(folder / "journals")}
    return subprocess.Popen(
        [*WEIR, "verify", str(folder), "--json", *more, "-o", str(folder / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def verified(folder: Path, *cases: str) -> tuple[int, dict[str, CaseResult], str]:
    """Exit code, cases, and all that was said and written."""
    run = began(folder, *[word for name in cases for word in ("--case", name)])
    said, complained = run.communicate(timeout=3000)
    found = Verification.model_validate_json(said)
    written = "".join(path.read_text() for path in (folder / "out").iterdir())
    return run.returncode, {one.name: one for one in found.suites[0].cases}, said + complained + written


class Processes:
    """Watches what the arguments of all processes of this host say, inside its namespaces too."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._over = threading.Event()
        self.seen: set[str] = set()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Processes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    if self._secret in (words := path.read_bytes()):
                        self.seen.add(words.decode(errors="replace"))


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


def processes_of(name: str) -> list[int]:
    """Of a service of the harness, by this host's numbers."""
    pid = container.alive()
    assert pid is not None
    inside = container.inner(pid)
    space = Path(f"/proc/{inside}/ns/pid").readlink()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "ns/pid").readlink() == space and name.encode() in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


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


@contextlib.contextmanager
def on_the_last_core() -> Iterator[None]:
    """All of the cloud, for the body, with what it starts meanwhile: the first one is the tester's."""
    cores = sorted(os.sched_getaffinity(0))
    over = threading.Event()

    def place_all(allowed: list[int]) -> None:
        for pid in processes_of(""):
            for task in Path(f"/proc/{pid}/task").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(task.name), allowed)

    def watch() -> None:
        while not over.wait(0.5):
            place_all(cores[-1:])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        place_all(cores)


@pytest.mark.usefixtures("untouched")
def test_chains_of_servers_are_measured_and_every_packet_has_its_place(tmp_path: Path) -> None:
    """Rates are those of emulated processors on one core."""
    with on_the_last_core():
        _, found, written = verified(sut(tmp_path, suite="performance", limit_s=600))
    for one in found.values():
        print(f"{one.name}: {one.outcome} in {one.seconds:.1f} s, clean-up {one.clean_up_seconds:.1f} s")
        for load in one.chains:
            print(f"  {summary(load)}; {[f'{each.packets} {each.place}' for each in load.ledger().lost]}")
    missed = {name: one.why for name, one in found.items() if one.outcome != "passed"}
    assert set(missed) == {"pvp_pinned", "pvvp_pinned"}
    assert all("no host of this cloud has pinned" in (why or "") for why in missed.values())
    for one in found.values():
        for load in one.chains:
            ledger = load.ledger()
            assert ledger.trials > 0
            assert (ledger.residual, ledger.unbalanced) == (0, 0)
            assert 0 < ledger.delivered <= ledger.offered
            assert ledger.offered == ledger.delivered + sum(drop.packets for drop in ledger.lost)
            assert all(
                drop.place.startswith(("cloud:", "vnf", "tester")) and drop.reason for drop in ledger.lost
            )
            assert load.datapath == "the cloud's (bridge)"
    assert place.password() not in written
    assert list((tmp_path / "journals").iterdir()) == []


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
        for pid in process.marked(f"weir-{path.stem}/rally")
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
