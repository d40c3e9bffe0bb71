# SPDX-License-Identifier: Apache-2.0
"""Netfilter is set in the namespace of the lab's bridges, and nowhere else."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.base.topology import switch_namespace
from weir.fabric import namespace, probe
from weir.lab.variant import Technologies

from .tiny import tiny_lab

HOOKS = Path("/proc/sys/net/bridge")

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces: run as root"),
    pytest.mark.skipif(not probe.bridge_netfilter(), reason="br_netfilter is not loaded"),
]


def hooks() -> dict[str, str]:
    return {path.name: path.read_text().strip() for path in HOOKS.glob("bridge-nf-call-*")}


@pytest.mark.parametrize(("wanted", "value"), [(False, "0"), (True, "1")])
@pytest.mark.usefixtures("run_root")
def test_bridged_packets_pass_netfilter_only_if_the_lab_says_so(wanted: bool, value: str) -> None:
    options = Technologies.model_validate({"linux-bridge": {"netfilter": wanted}})
    lab = tiny_lab("linux-bridge").model_copy(update={"technologies": options})
    deployment = plan.deployment_id(lab.name, secrets.token_hex(4))
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], deployment)
    before = hooks()
    steps = [one for one in plan.steps(topology, lab) if one.kind in ("run-directory", "netns", "sysctl")]
    standing = fabric.Deployment.deploy(steps, topology)
    try:
        with namespace.inside(switch_namespace(topology)):
            assert set(hooks().values()) == {value}
        assert hooks() == before
    finally:
        standing.destroy()
