# SPDX-License-Identifier: Apache-2.0
"""Functions in virtual machines: their ports, their steps, and what the weir-dp in them is told."""

from __future__ import annotations

import json

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.lab import Lab
from weir.plan import PlanError, Step
from weir.protocol.configuration import Configure

NAT = {"kind": "vm", "nf": "nat", "options": {"external": "203.0.113.0/24"}}
KERNEL = {"kind": "vm", "vm": {"forwarder": "kernel", "queues": 2, "hugepages": True}}
TOKEN = "0badcafe"


def lab(technology: str, chain: list[str], **functions: object) -> Lab:
    return Lab.model_validate_json(
        json.dumps(
            {
                "weir": 1,
                "name": "vm",
                "chain": [chain],
                "technology": technology,
                "functions": {"plain": {"nf": "l2fwd"}, "nat": NAT, "kernel": KERNEL, **functions},
            }
        )
    )


def planned(technology: str, *chain: str, **functions: object) -> tuple[Topology, list[Step]]:
    its = lab(technology, [*chain], **functions)
    topology = plan.build_topology(its, technology, its.chains()[0], plan.deployment_id("vm", TOKEN))
    return topology, plan.steps(topology, its)


@pytest.mark.parametrize(("technology", "kind"), [("linux-bridge", "vm-tap"), ("ovs-dpdk", "vm-vhost-user")])
def test_only_its_own_ports_are_the_machines(technology: str, kind: str) -> None:
    topology, _ = planned(technology, "plain", "nat")
    assert [port.kind == kind for port in topology.ports] == [False, False, False, True, True, False]


@pytest.mark.parametrize("technology", ["linux-bridge", "ovs-dpdk"])
def test_the_weir_dp_outside_knows_nothing_of_it(technology: str) -> None:
    topology, _ = planned(technology, "plain", "nat")
    config = plan.configure(topology, lab(technology, ["plain", "nat"])).arguments()
    assert sorted(port["name"] for port in config["ports"]) == [
        "f1.left",
        "f1.right",
        "tester.left",
        "tester.right",
    ]
    assert "f2" not in {area["name"].partition(".")[0] for area in config["areas"]}


def test_machines_boot_side_by_side_before_anything_polls() -> None:
    _, steps = planned("linux-bridge", "nat", "kernel")
    kinds = [step.kind for step in steps if step.kind.startswith(("vm", "weir"))]
    assert kinds == ["vm", "vm", "vm-ready", "vm-ready", "weir-dp"]


def test_a_tap_has_as_many_queues_as_the_machine_and_stands_before_it_is_attached() -> None:
    _, steps = planned("linux-bridge", "kernel")
    names = [step.name for step in steps]
    for port in ("f1.left", "f1.right"):
        assert names.index(f"tap:{port}") < names.index(f"bridge-port:{port}") < names.index("vm:f1")
    assert {step.params["queues"] for step in steps if step.kind == "tap"} == {2}


def test_what_a_guest_is_told_is_a_valid_request_on_its_own_cpus_and_devices() -> None:
    _, steps = planned("ovs-dpdk", "many", many={**NAT, "vm": {"vcpus": 3}, "architecture": "dispatch"})
    told = json.loads(str(next(step for step in steps if step.kind == "vm-ready").params["configure"]))
    Configure.model_validate(told)
    assert [port["devargs"] for port in told["ports"]] == ["0000:00:10.0", "0000:00:11.0"]
    assert {area["core"] for area in told["areas"]} == {1, 2}


def test_a_machine_with_too_little_memory_for_its_weir_dp_is_refused_with_what_it_needs() -> None:
    with pytest.raises(PlanError, match=r"f1 has 128 MiB .* expected vm.memory_mb: \d+ or more"):
        planned("linux-bridge", "small", small={**NAT, "vm": {"memory_mb": 128}})


def test_hugepages_of_machines_are_asked_for_with_those_of_weir_dp() -> None:
    def pages(*chain: str) -> int:
        _, steps = planned("linux-bridge", *chain)
        return int(str(next(step for step in steps if step.kind == "hugepages").params["memory_mb"]))

    assert pages("kernel", "kernel") - pages("kernel") == 512


def test_an_image_of_the_users_has_a_seed_that_knows_its_addresses() -> None:
    _, steps = planned("linux-bridge", "own", own={"kind": "vm", "vm": {"image": "/x.qcow2"}})
    seed = next(step for step in steps if step.kind == "vm-seed")
    assert seed.params["image"] == "/x.qcow2"
    assert seed.params["left_mac"] == "02:57:0b:ad:01:00"
    assert seed.params["left_next_hop"] == "02:57:0b:ad:00:00"
