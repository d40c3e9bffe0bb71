# SPDX-License-Identifier: Apache-2.0
"""Killed at any point of destroy, again and again, weir leaves nothing that the next weir cannot remove.

Kills within steps, and of deploy: `test_system_calls`.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.base.topology import Topology
from weir.plan import Step

from .killed import kill_at, survived
from .surroundings import Surroundings
from .tiny import EACH, tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

DESTROY = ("undoing", "undone", "forgotten")


Scene = tuple[list[Step], Topology, Surroundings]


@pytest.fixture(params=EACH)
def scene(request: pytest.FixtureRequest, run_root: Path) -> Iterator[Scene]:
    """What to deploy, and where."""
    refusal = fabric.check(request.param)
    if refusal is not None:
        pytest.skip(f"{request.param} cannot run here: {refusal.missing}")
    lab = tiny_lab(request.param)
    token = secrets.token_hex(4)
    topology = plan.build_topology(lab, request.param, lab.chains()[0], plan.deployment_id(lab.name, token))
    surroundings = Surroundings(run_root, lab.name, token)
    yield plan.steps(topology, lab), topology, surroundings
    surroundings.remove()


@pytest.fixture
def tell(scene: Scene, capsys: pytest.CaptureFixture[str]) -> Callable[[int, str], None]:
    """Prints how many points there were, and how long they took."""
    started = time.monotonic()

    def told(points: int, doing: str) -> None:
        with capsys.disabled():
            took_s = time.monotonic() - started
            print(f"\n{scene[1].technology}: killed at {points} points of {doing}, {took_s:.1f} s")

    return told


def standing() -> fabric.Deployment:
    """The only one."""
    (deployment,) = fabric.deployments()
    return deployment


def test_killed_again_and_again_at_every_point_of_destroy(
    scene: Scene, tell: Callable[[int, str], None]
) -> None:
    """Each destroy goes on where the one before was killed; the last finds nothing but the journal."""
    steps, topology, surroundings = scene
    points = [(step.name, state) for step in reversed(steps) for state in DESTROY]
    assert survived(lambda: fabric.Deployment.deploy(steps, topology).keep())
    assert fabric.clean_leftovers() == []
    for point in points:
        assert not survived(lambda: standing().destroy(kill_at(point))), point  # noqa: B023 - called here
    assert fabric.clean_leftovers() == [topology.deployment]
    surroundings.check("destroyed")
    tell(len(points), "destroy")
