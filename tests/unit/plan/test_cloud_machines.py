# SPDX-License-Identifier: Apache-2.0
"""Instances that are virtual machines: each is at its tap what a namespace would be at its pair."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from weir.base.cloud import Security
from weir.lab.tenants import TenantsFile
from weir.plan import PlanError, Step
from weir.plan.cloud import cloud_steps, cloud_topology, measured_topology

DEPLOYMENT = "cloud-12345678"
NODE = "weir-12345678-compute1"


def tenants(security: str = "bridge-filter", instances: int = 3, **vm: object) -> TenantsFile:
    blue = {"name": "blue", "instances": instances, "vm": {"instances": 2, **vm}, "system": {}}
    cloud = {"security": security}
    return TenantsFile.model_validate({"weir": 1, "name": "cloud", "cloud": cloud, "tenants": [blue]})


def planned(security: str = "bridge-filter", **vm: object) -> list[Step]:
    return cloud_steps(cloud_topology(tenants(security, 3, **vm), DEPLOYMENT))


def of_kind(steps: list[Step], kind: str) -> list[dict[str, Any]]:
    return [step.params for step in steps if step.kind == kind]


@pytest.mark.parametrize("security", get_args(Security))
def test_a_tap_stands_where_a_namespace_would_have_its_pair(security: str) -> None:
    steps = planned(security)
    assert [(one["netns"], one["interface"]) for one in of_kind(steps, "tap")] == [
        (NODE, "tap1.2"),
        (NODE, "tap1.3"),
    ]
    assert [one["peer_interface"] for one in of_kind(steps, "veth") if one["peer_netns"] == NODE] == [
        "tap1.1"
    ] + (["qvo1.1", "qvo1.2", "qvo1.3"] if security == "bridge-filter" else [])
    made = {one["netns"] for one in of_kind(steps, "netns")}
    assert {f"weir-12345678-blue.{number}" for number in (1, 2, 3)} & made == {"weir-12345678-blue.1"}


def test_its_tap_is_in_the_bridge_that_filters_for_it_before_it_starts() -> None:
    names = [step.name for step in planned()]
    assert (
        names.index(f"tap:{NODE}.tap1.2")
        < names.index(f"bridge-port:{NODE}.tap1.2")
        < names.index("vm:blue.2")
    )


@pytest.mark.parametrize("security", ["bridge-filter", "ovs-conntrack"])
def test_filters_know_it_by_its_fixed_address_as_they_know_a_namespace(security: str) -> None:
    steps = planned(security)
    mac = next(one["eth0_mac"] for one in of_kind(steps, "vm") if one["node"] == "blue.2")
    rules = [
        str(one.get("rules", one.get("flows")))
        for one in of_kind(steps, "ruleset") + of_kind(steps, "openflow")
    ]
    assert mac == "02:57:12:00:01:02"
    assert any("tap1.2" in one and mac in one for one in rules)


def test_the_server_knows_it_and_no_namespace_asks_in_its_place() -> None:
    steps = planned()
    (server,), (asking,), (lease,) = (
        of_kind(steps, kind) for kind in ("dhcp-server", "dhcp-leases", "guest-leases")
    )
    assert any(one.startswith("02:57:12:00:01:02,") and one.endswith(",10.0.0.4") for one in server["hosts"])
    assert asking["instances"] == ["blue.1"]
    assert lease["nodes"] == ["blue.2", "blue.3"]
    assert lease["expected"] == ["02:57:12:00:01:02 10.0.0.4", "02:57:12:00:01:03 10.0.0.5"]


def test_machines_boot_side_by_side_when_their_networks_carry_packets() -> None:
    kinds = [step.kind for step in planned()]
    assert [one for one in kinds if one.startswith(("vm", "guest"))] == [
        "guests",
        "vm",
        "vm",
        "vm-ready",
        "vm-ready",
        "guest-leases",
    ]
    assert len(kinds) - kinds[::-1].index("dhcp-server") <= kinds.index("guests")


def test_an_image_of_the_users_has_a_seed_with_its_address() -> None:
    (seed, _) = of_kind(planned(image="/x.qcow2", overlay_mb=64), "vm-seed")
    assert (seed["image"], seed["overlay_mb"], seed["eth0_mac"]) == ("/x.qcow2", 64, "02:57:12:00:01:02")


def test_systems_are_in_namespaces_alone() -> None:
    assert [one["instance"] for one in of_kind(planned(), "instance-system")] == ["blue.1"]


def test_the_tester_takes_no_virtual_machine_and_these_work_on_the_systems_cores() -> None:
    with pytest.raises(PlanError, match=r"^blue\.1 is a virtual machine, .* vm\.instances of blue"):
        measured_topology(tenants(instances=2), DEPLOYMENT, (0, 1, 2))
    steps = cloud_steps(measured_topology(tenants(), DEPLOYMENT, (0, 1, 2)))
    assert [one["cores"] for one in of_kind(steps, "vm-ready")] == [[1, 2], [1, 2]]
