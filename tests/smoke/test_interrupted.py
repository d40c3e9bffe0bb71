# SPDX-License-Identifier: Apache-2.0
"""Killed at any point of deploy or destroy, weir leaves nothing that the next destroy cannot remove."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.fabric import hugepages, namespace, process
from weir.plan import Step
from weir.spec import Lab, load_lab
from weir.spec.topology import Topology

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LAB = Path(__file__).resolve().parents[2] / "labs/switching/lab.yml"
DEPLOY = ("doing", "done", "recorded")
DESTROY = ("undoing", "undone", "forgotten")
LOOKALIKE = f"weir-lookalike-{os.getpid()}-sw"  # two of these tests may run at once
STRAY = "not-a-deployment"
PLACES = (Path("/dev/hugepages"), Path("/run/dpdk"))


@pytest.fixture
def run_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty root for run directories, with a path short enough for unix sockets."""
    root = Path(tempfile.mkdtemp(prefix="wk", dir="/tmp"))
    monkeypatch.setenv("WEIR_RUN_DIR", str(root))
    yield root
    for deployment in fabric.deployments():
        deployment.destroy()
    shutil.rmtree(root)


class Lookalikes:
    """Things with names like ours that are not ours."""

    def __init__(self, root: Path, deployment: str) -> None:
        self._directory = root / STRAY
        self._directory.mkdir()
        (self._directory / "weir-dp.sock").touch()
        _ip("netns", "add", LOOKALIKE)
        _ip("-n", LOOKALIKE, "link", "add", "net0", "type", "bridge")
        self._index = self._bridge()
        markers = (f"{deployment}/weir-dp-of-mine", f"{deployment}0/weir-dp", f"x{deployment}/ovs-vswitchd")
        self._processes = [
            subprocess.Popen(["sleep", "600"], env=os.environ | {process.MARKER: marker})
            for marker in markers
        ]
        self.pids = {one.pid for one in self._processes}

    def check(self) -> None:
        """All as planted."""
        assert self._bridge() == self._index
        assert all(one.poll() is None for one in self._processes)
        assert [path.name for path in self._directory.iterdir()] == ["weir-dp.sock"]

    def remove(self) -> None:
        """Ours to remove after all."""
        for one in self._processes:
            one.kill()
            one.wait()
        _ip("netns", "del", LOOKALIKE)

    @staticmethod
    def _bridge() -> str:
        return _ip("-n", LOOKALIKE, "-o", "link", "show", "net0").split(":", 1)[0]


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def _killed(work: Callable[[], None]) -> None:
    """Runs `work` in a forked child, which must kill itself in it."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # nothing may get back into the child's copy of pytest
            traceback.print_exc()
        os._exit(1)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status), "the child ended before it came to the point"
    assert os.WTERMSIG(status) == signal.SIGKILL


def _kill_at(step: str, state: str) -> Callable[[fabric.Event], None]:
    def on_event(event: fabric.Event) -> None:
        if (event.step.name, event.state) == (step, state):
            os.kill(os.getpid(), signal.SIGKILL)

    return on_event


def _marked(deployment: str) -> set[int]:
    """Processes of any step of the deployment, and those whose marker only begins like one."""
    wanted = f"{process.MARKER}={deployment}/".encode()
    found = set()
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            environ = (directory / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(variable.startswith(wanted) for variable in environ):
            found.add(int(directory.name))
    return found


def _pages() -> str:
    return (hugepages.DIRECTORY / "nr_hugepages").read_text()


def _files() -> dict[Path, set[str]]:
    return {place: {path.name for path in place.iterdir()} for place in PLACES if place.is_dir()}


def _points(steps: list[Step]) -> list[tuple[str, str]]:
    there = [(step.name, state) for step in steps for state in DEPLOY]
    return there + [(step.name, state) for step in reversed(steps) for state in DESTROY]


def _lab() -> Lab:
    return load_lab(LAB, quick=True, cpus=sorted(os.sched_getaffinity(0)))


def _interrupted(steps: list[Step], topology: Topology, point: tuple[str, str]) -> None:
    """Deploys, and destroys where the point lies there, in a child that is killed at the point."""

    def work() -> None:
        on_event = _kill_at(*point)
        fabric.Deployment.deploy(steps, topology, on_event=on_event).destroy(on_event)

    _killed(work)


@pytest.mark.parametrize(
    ("technology", "chain"),
    [("direct", "PVP"), ("linux-bridge", "PVVP"), ("ovs", "PVP"), ("ovs-dpdk", "PVP")],
)
def test_killed_at_every_step(
    technology: str, chain: str, run_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{technology} cannot run here: {refusal.missing}")
    lab = _lab()
    deployment = plan.deployment_id(lab.name, secrets.token_hex(4))
    shape = next(shape for shape in lab.chains() if shape.name == chain)
    topology = plan.build_topology(lab, technology, shape, deployment)
    steps = plan.steps(topology, lab)
    token = deployment.rsplit("-", 1)[1]
    pages, files = _pages(), _files()
    lookalikes = Lookalikes(run_root, deployment)
    started = time.monotonic()
    points = _points(steps)
    try:
        for point in points:
            _interrupted(steps, topology, point)
            assert [one.id for one in fabric.deployments()] == [deployment], point
            for one in fabric.deployments():
                one.destroy()
            assert [name for name in os.listdir(namespace.DIRECTORY) if token in name] == [], point  # noqa: PTH208
            assert _marked(deployment) <= lookalikes.pids, point
            assert [path.name for path in run_root.iterdir()] == [STRAY], point
            assert _pages() == pages, point
            assert _files() == files, point
            lookalikes.check()
    finally:
        lookalikes.remove()
    seconds = time.monotonic() - started
    with capsys.disabled():
        print(f"\n{technology} {chain}: killed at {len(points)} points, {seconds:.1f} s")
