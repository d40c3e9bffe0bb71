# SPDX-License-Identifier: Apache-2.0
"""A switch with DPDK makes its packet buffers before a port can connect to it."""

from __future__ import annotations

import pytest

from weir.lab import Lab
from weir.plan import build_topology, steps


@pytest.mark.parametrize(("frame", "mtu_bytes"), [(64, 0), (9000, 9000)])
def test_the_pool_is_that_of_the_ports_and_comes_before_them(frame: int, mtu_bytes: int) -> None:
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "pool",
            "chain": "PVP",
            "technology": ["ovs-dpdk"],
            "traffic": {"frames": [frame]},
        }
    )
    topology = build_topology(lab, "ovs-dpdk", lab.chains()[0], "pool-0badcafe")
    made = steps(topology, lab)
    kinds = [step.kind for step in made]
    ports = [step for step in made if step.kind == "ovs-port"]
    assert kinds.count("ovs-pool") == 1
    assert kinds.index("ovs-vswitchd") < kinds.index("ovs-pool") < kinds.index("ovs-port")
    pool = made[kinds.index("ovs-pool")]
    assert {pool.params["mtu_bytes"]} == {port.params["mtu_bytes"] for port in ports} == {mtu_bytes}
