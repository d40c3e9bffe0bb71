# SPDX-License-Identifier: Apache-2.0
"""A machine that is to be migrated: its interfaces, its second QEMU, and what is not flooded."""

from __future__ import annotations

import json

import pytest

from weir import plan
from weir.base.topology import Topology, migratable
from weir.lab import Lab
from weir.plan import Step

HUGE = {"forwarder": "kernel", "hugepages": True, "memory_mb": 256}


def planned(*, ready: bool = True) -> tuple[Topology, list[Step]]:
    lab = Lab.model_validate_json(
        json.dumps(
            {
                "weir": 1,
                "name": "vm",
                "chain": [["kernel", "plain"]],
                "technology": "linux-bridge",
                "functions": {"plain": {"nf": "l2fwd"}, "kernel": {"kind": "vm", "vm": HUGE}},
                "host": {"pinning": True},
            }
        )
    )
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], plan.deployment_id("vm", "0badcafe"))
    topology = migratable(topology, "f1") if ready else topology
    return topology, plan.steps(topology, lab)


def test_each_port_has_four_interfaces_at_its_network_that_are_never_flooded() -> None:
    _, steps = planned()
    at = {step.params["interface"]: step for step in steps if step.kind == "bridge-port"}
    pairs = [f"f1.{side}{end}" for side in ("left", "right") for end in ("", ".p", ".to", ".to.p")]
    assert {name for name, step in at.items() if not step.params["flooded"]} == {*pairs}
    assert {at[name].params["bridge"] for name in pairs[:4]} == {"net0"}
    assert {step.params["interface"] for step in steps if step.kind == "tap"} == {*pairs}
    assert max(map(len, pairs)) < 16  # IFNAMSIZ


def test_the_second_qemu_stands_before_traffic_and_nobody_waits_for_its_guest() -> None:
    _, steps = planned()
    names = [step.name for step in steps]
    assert names.index("vm:f1.to") < names.index("weir-dp")
    target = next(step for step in steps if step.name == "vm:f1.to")
    assert target.params["incoming"] is True
    assert (target.params["left_interface"], target.params["left_primary"]) == ("f1.left.to", "f1.left.to.p")
    assert next(step for step in steps if step.name == "vm-ready:f1.to").params["incoming"] is True


def test_its_memory_is_there_twice() -> None:
    def pages(*, ready: bool) -> int:
        step = next(step for step in planned(ready=ready)[1] if step.kind == "hugepages")
        return int(str(step.params["memory_mb"]))

    assert pages(ready=True) - pages(ready=False) == 256


def test_a_machine_that_nobody_migrates_is_as_before() -> None:
    _, steps = planned(ready=False)
    assert {step.params["interface"] for step in steps if step.kind == "tap"} == {"f1.left", "f1.right"}
    assert all(step.params["flooded"] for step in steps if step.kind == "bridge-port")
    assert "vm:f1.to" not in [step.name for step in steps]


def test_what_is_no_machine_cannot_be_made_ready() -> None:
    with pytest.raises(ValueError, match="f2 is no virtual machine"):
        migratable(planned(ready=False)[0], "f2")
