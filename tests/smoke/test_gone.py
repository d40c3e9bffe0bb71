# SPDX-License-Identifier: Apache-2.0
"""Something that a trial runs through disappears: no hang, a message that names it, and all is cleaned up."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from weir import fabric
from weir.fabric import markers, namespace
from weir.measure.one_case import Event
from weir.procedures.campaign import Campaign
from weir.protocol import DataPlaneClient
from weir.results.result import Case
from weir.store.store import Store

from .surroundings import Surroundings
from .tiny import tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

TRIAL_S = 0.3
AT_MOST_S = 20.0
Happening = Callable[[fabric.Deployment], None]


class Said:
    """What a run says."""

    def __init__(self) -> None:
        self.text = ""

    def say(self, text: str) -> None:
        self.text += f"{text}\n"

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def setup(self, name: str) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


class Scene:
    """A place for a run in which something happens."""

    def __init__(self, root: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._store = folder / "results.db"
        self._logs = folder / "logs"
        patch.setenv("WEIR_LOG_DIR", str(self._logs))
        self._patch = patch
        self.said = Said()
        self.surroundings = Surroundings(root, "tiny", secrets.token_hex(4))

    def run(self, technology: str, happening: Happening) -> Case:
        """Runs the tiny lab; it happens in the middle of the chain's first trial. The only case."""
        refusal = fabric.check(technology)
        if refusal is not None:
            pytest.skip(f"{technology} cannot run here: {refusal.missing}")
        lab = tiny_lab(technology)
        lab = lab.model_copy(update={"measure": lab.measure.model_copy(update={"warm_up_s": TRIAL_S})})
        wait = DataPlaneClient.wait

        def eventful_wait(client: DataPlaneClient, seconds: float) -> None:
            (deployment,) = fabric.deployments()
            self.surroundings.tokens.add(deployment.id.rsplit("-", 1)[1])
            assert deployment.topology is not None
            if deployment.topology.functions():
                wait(client, seconds / 3)
                happening(deployment)
            wait(client, seconds)

        self._patch.setattr(DataPlaneClient, "wait", eventful_wait)
        began = time.monotonic()
        with Store(self._store) as store:
            result = Campaign(lab, quick=False, store=store, progress=self.said).run()
        assert time.monotonic() - began < AT_MOST_S
        assert not result.interrupted
        self.surroundings.check(technology)
        assert result.setups[0].refused is None
        (case,) = result.setups[0].cases
        return case

    def kept_in(self, problem: str) -> str:
        """The files in the folder that the problem says logs are kept in."""
        place = Path(problem.split("logs kept in ")[1].split(";", maxsplit=1)[0])
        assert place.parent == self._logs
        return "\n".join(str(path) for path in place.rglob("*") if path.is_file())


@pytest.fixture
def scene(run_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    made = Scene(run_root, tmp_path, monkeypatch)
    yield made
    made.surroundings.remove()


def kill(step: str) -> Happening:
    """The process of that step, as a crash would."""

    def happening(deployment: fabric.Deployment) -> None:
        (pid,) = markers.marked(f"{deployment.id}/{step}")
        os.kill(pid, signal.SIGKILL)

    return happening


def delete_link(deployment: fabric.Deployment) -> None:
    """f1's left port, with its other end."""
    assert deployment.topology is not None
    port = deployment.topology.port("f1.left")
    assert port.netns is not None
    with namespace.inside(port.netns), IPRoute() as route:
        route.link("del", ifname=port.side)


def test_a_link_of_the_chain(scene: Scene) -> None:
    case = scene.run("linux-bridge", delete_link)
    (trial,) = case.trials
    assert not trial.valid
    assert "Port f1.left disappeared during the trial" in trial.invalid_because[0]
    assert case.problem is not None
    assert case.problem.startswith(f"{trial.invalid_because[0].removesuffix('.')}; logs kept in ")
    assert case.throughput == []


@pytest.mark.parametrize("technology", ["ovs", pytest.param("ovs-dpdk", marks=pytest.mark.long)])
def test_the_switch(technology: str, scene: Scene) -> None:
    case = scene.run(technology, kill("ovs-vswitchd"))
    assert case.problem is not None
    assert "ovs-vswitchd has ended" in case.problem
    assert "/ovs/ovs-vswitchd.log" in scene.kept_in(case.problem)
    assert case.throughput == []


def test_the_tester_itself(scene: Scene) -> None:
    case = scene.run("direct", kill("weir-dp"))
    assert case.problem is not None
    assert "weir-dp has ended" in case.problem
    assert "/weir-dp.log" in scene.kept_in(case.problem)
    assert "given up" in scene.said.text
    assert case.throughput == []
