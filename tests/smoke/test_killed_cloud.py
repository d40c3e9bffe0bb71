# SPDX-License-Identifier: Apache-2.0
"""Killed while it builds a cloud or takes one down, weir leaves nothing that the next weir cannot remove."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir import fabric
from weir.base.cloud import CloudTopology
from weir.plan import Step

from .clouds import NEEDS_CLOUDS, planned
from .killed import kill_at, survived
from .surroundings import Surroundings

pytestmark = NEEDS_CLOUDS

DEPLOY, DESTROY = ("doing", "done", "recorded"), ("undoing", "undone", "forgotten")
SMALL = {
    "weir": 1,
    "name": "cloud",
    "cloud": {"functions": [{"name": "shaper", "commands": ["tc qdisc add dev eth0 root pfifo"]}]},
    "tenants": [{"name": "blue", "functions": [{"name": "dpi"}]}],
}
Scene = tuple[list[Step], CloudTopology, Surroundings]


@pytest.fixture
def scene(run_root: Path) -> Iterator[Scene]:
    token = secrets.token_hex(4)
    steps, topology = planned(json.dumps(SMALL), token, os.sched_getaffinity(0))
    surroundings = Surroundings(run_root, "cloud", token)
    yield steps, topology, surroundings
    surroundings.remove()


def deploy_killed_at(scene: Scene, points: list[tuple[str, str]]) -> None:
    steps, topology, surroundings = scene
    for point in points:
        assert not survived(lambda: fabric.Deployment.deploy(steps, topology, kill_at(point))), point  # noqa: B023
        assert fabric.clean_leftovers() == [topology.deployment]
        surroundings.check(point)


@pytest.mark.slow
def test_killed_in_the_last_step_of_each_kind(scene: Scene) -> None:
    last = {step.kind: step.name for step in scene[0]}
    deploy_killed_at(scene, [(name, "done") for name in last.values()])


@pytest.mark.slow
@pytest.mark.parametrize("state", DEPLOY)
def test_killed_at_every_step_of_deploy(scene: Scene, state: str) -> None:
    deploy_killed_at(scene, [(step.name, state) for step in scene[0]])


@pytest.mark.long
def test_killed_again_and_again_at_every_point_of_destroy(scene: Scene) -> None:
    steps, topology, surroundings = scene
    assert survived(lambda: fabric.Deployment.deploy(steps, topology).keep())
    for step in reversed(steps):
        for state in DESTROY:
            (standing,) = fabric.deployments()
            point = step.name, state
            assert not survived(lambda: standing.destroy(kill_at(point))), point  # noqa: B023
    assert fabric.clean_leftovers() == [topology.deployment]
    surroundings.check("destroyed")
