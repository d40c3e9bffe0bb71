# SPDX-License-Identifier: Apache-2.0
"""Weir killed (SIGKILL) in every phase of every step, of deploy and destroy: destroy then leaves nothing.

Look-alikes are planted first: what has a Weir-like name but was not made by the deployment must stay.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.fabric import hugepages, process
from weir.fabric.data_plane import binary
from weir.fabric.deployment import Event
from weir.plan import Step
from weir.spec import load_lab
from weir.spec.topology import Topology

LAB = Path(__file__).parents[2] / "labs/switching/lab.yml"
NETNS = Path("/run/netns")
DEPLOY_STATES = ("doing", "done", "recorded")
DESTROY_STATES = ("undoing", "undone", "forgotten")

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root"),
]


def _has_data_plane() -> bool:
    try:
        binary()
    except fabric.FabricError:
        return False
    return True


def _planned(technology: str) -> tuple[list[Step], Topology]:
    lab = load_lab(LAB, quick=True, cpus=sorted(os.sched_getaffinity(0)))
    topology = plan.build_topology(
        lab, technology, lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    steps = plan.steps(topology, lab)
    if technology != "direct" or not hugepages.DIRECTORY.is_dir():
        return steps, topology
    # More than is free, so that the machine's setting really changes and has to be set back.
    free = int((hugepages.DIRECTORY / "free_hugepages").read_text())
    memory_mb = (free + 8) * hugepages.PAGE_MB - hugepages.MARGIN_MB
    return [
        step.model_copy(update={"params": {"memory_mb": memory_mb}}) if step.kind == "hugepages" else step
        for step in steps
    ], topology


def _in_child(body: Callable[[], object]) -> int:
    """Runs it in a forked process; the signal that ended it, 0 for none. Fails if it raised."""
    pid = os.fork()
    if pid == 0:
        try:
            body()
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the child failed: see its message above"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _killer(name: str, state: str) -> Callable[[Event], None]:
    def kill(event: Event) -> None:
        if (event.step.name, event.state) == (name, state):
            os.kill(os.getpid(), signal.SIGKILL)

    return kill


def _destroy(deployment_id: str, on_event: Callable[[Event], None] = lambda _: None) -> None:
    for deployment in fabric.deployments():
        if deployment.id == deployment_id:
            deployment.destroy(on_event)


def _links() -> str:
    return subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout


def _pages() -> str:
    path = hugepages.DIRECTORY / "nr_hugepages"
    return path.read_text() if path.exists() else ""


def _processes_of(deployment_id: str) -> list[str]:
    wanted = f"{process.MARKER}={deployment_id}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in environ.read_bytes():
                found.append(environ.parent.name)
        except OSError:
            continue
    return found


@pytest.fixture
def run_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "run"
    monkeypatch.setenv("WEIR_RUN_DIR", str(root))
    return root


@pytest.fixture
def look_alikes(run_root: Path) -> Iterator[Callable[[], bool]]:
    """A namespace, a bridge, a process and a directory with Weir-like names; tells whether all are there."""
    token = secrets.token_hex(4)
    netns, bridge, directory = f"weir-{token}-sw", f"weir{token[:4]}", run_root / f"switching-{token}"
    sleeper = run_root / "weir-dp"
    directory.mkdir(parents=True)
    shutil.copy("/bin/sleep", sleeper)
    subprocess.run(["ip", "netns", "add", netns], check=True)
    subprocess.run(["ip", "link", "add", bridge, "type", "bridge"], check=True)
    foreign = subprocess.Popen([str(sleeper), "600"], env={process.MARKER: f"switching-{token}/weir-dp"})
    yield (
        lambda: (
            (NETNS / netns).exists() and bridge in _links() and directory.is_dir() and foreign.poll() is None
        )
    )
    foreign.kill()
    foreign.wait()
    subprocess.run(["ip", "link", "del", bridge], check=True)
    subprocess.run(["ip", "netns", "del", netns], check=True)


@pytest.mark.parametrize("technology", ["direct", "linux-bridge", "ovs", "ovs-dpdk"])
def test_a_kill_at_any_step_leaves_nothing_after_destroy(
    technology: str, run_root: Path, look_alikes: Callable[[], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    if not _has_data_plane():
        pytest.skip("weir-dp is not built: make native")
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{technology}: {refusal.missing}")
    before = (_links(), sorted(run_root.iterdir()), _pages())

    def nothing_is_left(topology: Topology, point: str) -> None:
        assert (_links(), sorted(run_root.iterdir()), _pages()) == before, point
        # By token and not by all names: other labs may come and go beside this test.
        token = topology.deployment.rsplit("-", 1)[1]
        assert not [path.name for path in NETNS.iterdir() if token in path.name], point
        assert not _processes_of(topology.deployment), point
        assert look_alikes(), point

    points = 0
    for number in range(len(_planned(technology)[0])):
        for state in DEPLOY_STATES:
            steps, topology = _planned(technology)
            at = _killer(steps[number].name, state)
            ended = _in_child(lambda s=steps, t=topology, k=at: fabric.Deployment.deploy(s, t, k))  # type: ignore[misc]
            assert ended == signal.SIGKILL
            _in_child(lambda t=topology: _destroy(t.deployment))  # type: ignore[misc]
            nothing_is_left(topology, f"deploy, {steps[number].name} {state}")
            points += 1
    # One deployment, whose destroy is killed at each point in turn and begun anew.
    steps, topology = _planned(technology)
    assert _in_child(lambda: fabric.Deployment.deploy(steps, topology)) == 0
    for step in reversed(steps):
        for state in DESTROY_STATES:
            at = _killer(step.name, state)
            assert _in_child(lambda k=at: _destroy(topology.deployment, k)) == signal.SIGKILL  # type: ignore[misc]
            assert look_alikes(), f"destroy, {step.name} {state}"
            points += 1
    _in_child(lambda: _destroy(topology.deployment))
    nothing_is_left(topology, "destroy")
    with capsys.disabled():
        print(f"{technology}: {points} kill points")


def test_a_namespace_of_exactly_our_name_that_is_not_ours_stays(run_root: Path) -> None:  # noqa: ARG001
    steps, topology = _planned("linux-bridge")
    name = next(str(step.params["netns"]) for step in steps if step.kind == "netns")
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with pytest.raises(fabric.FabricError, match="already"):
            fabric.Deployment.deploy(steps, topology)
        assert (NETNS / name).exists()
        assert not fabric.deployments()
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
