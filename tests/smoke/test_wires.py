# SPDX-License-Identifier: Apache-2.0
"""The wires of weir-dp itself: nothing waits until DPDK happens to look."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.plan import SOCKET
from weir.protocol import DataPlaneClient

from .tiny import tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LOOKS_EVERY_S = 1.0  # DPDK's vhost thread, after new sockets


@pytest.mark.usefixtures("run_root")
def test_a_vhost_user_wire_is_up_before_dpdk_would_look_for_it() -> None:
    lab = tiny_lab("direct")
    deployment_id = plan.deployment_id(lab.name, secrets.token_hex(4))
    topology = plan.build_topology(lab, "direct", lab.chains()[0], deployment_id)
    deployment = fabric.Deployment.deploy(plan.steps(topology, lab), topology)
    config = plan.Plan.of(topology, lab).opened(str(deployment.run_dir), deployment.devices)
    try:
        with DataPlaneClient(Path(deployment.run_dir) / SOCKET) as client:
            began = time.monotonic()
            client.configure(config)
            took_s = time.monotonic() - began
    finally:
        deployment.destroy()
    assert took_s < 0.9 * LOOKS_EVERY_S
