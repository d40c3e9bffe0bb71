# SPDX-License-Identifier: Apache-2.0
"""A switch with DPDK: its packet buffers are there before a port connects, and what made them is gone before
anything is measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.fabric.openvswitch import vsctl
from weir.plan import SOCKET
from weir.protocol import DataPlaneClient
from weir.technology.openvswitch import DIRECTORY

from .tiny import tiny_lab
from .trials import standing

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

MADE, GONE, CONNECTED = "attached to DPDK", "has been removed and detached", "has been added on numa node"


@pytest.mark.long
@pytest.mark.usefixtures("run_root")
def test_ports_connect_to_a_switch_that_has_its_buffers_and_leaves_weir_dp_its_pages() -> None:
    with standing(tiny_lab("ovs-dpdk"), lambda _: None) as (deployment, _):
        run_dir = Path(deployment.run_dir)
        settings = vsctl(run_dir / DIRECTORY, "get", "Open_vSwitch", ".", "other_config")
        if "per-port-memory" in settings:
            pytest.skip("the kernel has no memory for hugepages: each port has a pool of its own")
        said = (run_dir / DIRECTORY / "ovs-vswitchd.log").read_text().splitlines()
        events = [next((what for what in (MADE, GONE, CONNECTED) if what in line), None) for line in said]
        assert [what for what in events if what] == [MADE, *[CONNECTED] * 4, GONE]
        assert vsctl(run_dir / DIRECTORY, "list-br").split() == ["net0", "net1"]
        with DataPlaneClient(run_dir / SOCKET) as client:
            assert client.hello().memory == "hugepages"
