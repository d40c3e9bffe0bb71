# SPDX-License-Identifier: Apache-2.0
"""What a chain passes through is reset under load: frames pass again, and nothing is left, killed or not."""

from __future__ import annotations

import os
import secrets
from typing import Any

import pytest

from weir import fabric, plan
from weir.fabric import openvswitch
from weir.fabric.reset import resets
from weir.procedures.rfc2544.recovery import recovery_s
from weir.protocol.traffic import Shape
from weir.results.result import Trial

from .killed import kill, survived
from .surroundings import Surroundings
from .tiny import tiny_lab
from .trials import standing

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LOAD_PPS = 5_000.0
AFTER_S = 0.2


@pytest.mark.parametrize(
    ("technology", "whole_s"),
    [
        ("linux-bridge", 0.6),
        pytest.param("ovs", 1.2, marks=pytest.mark.long),
        pytest.param("ovs-dpdk", 5.0, marks=pytest.mark.long),
    ],
)
def test_frames_pass_again_after_a_reset(technology: str, whole_s: float, surroundings: Surroundings) -> None:
    trials: list[Trial] = []
    with standing(tiny_lab(technology), trials.append) as (deployment, runner):
        (reset,) = resets(deployment)
        processes = deployment.processes()
        runner.run("reset", LOAD_PPS, whole_s, None, Shape(meanwhile=reset.do, meanwhile_after_s=AFTER_S))
        runner.run("curve", LOAD_PPS, AFTER_S)
        switches = {name for name in processes if name == "ovs-vswitchd"}
        assert {name for name, pid in deployment.processes().items() if processes[name] != pid} == switches
    through, after = trials
    assert through.unaccounted >= 0
    assert 0 < through.delivered < through.offered
    assert recovery_s(through, AFTER_S) < 0.95 * (whole_s - AFTER_S)
    assert after.unaccounted == 0
    assert after.delivered > 0
    surroundings.check(technology)


@pytest.mark.long
def test_weir_killed_in_a_reset_leaves_what_the_next_weir_removes(surroundings: Surroundings) -> None:
    lab = tiny_lab("ovs")
    topology = plan.build_topology(
        lab, "ovs", lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    surroundings.tokens.add(topology.deployment.rsplit("-", 1)[1])

    def work() -> None:
        deployment = fabric.Deployment.deploy(plan.steps(topology, lab), topology)
        start = openvswitch.OvsVswitchd.do

        def start_and_die(self: openvswitch.OvsVswitchd, step: plan.Step, site: Any) -> None:
            start(self, step, site)
            kill()

        openvswitch.OvsVswitchd.do = start_and_die  # type: ignore[method-assign, assignment]
        (reset,) = resets(deployment)
        reset.do()

    assert not survived(work)
    assert fabric.clean_leftovers() == [topology.deployment]
    surroundings.check("killed after the start")
