# SPDX-License-Identifier: Apache-2.0
"""Weir's router in the place of tenants' Linux routers: what it is told, and what Linux then is not."""

from __future__ import annotations

from typing import get_args

import pytest

from weir.base.cloud import CloudTopology, Router, Security
from weir.fabric.cloud.drops import READERS
from weir.lab.tenants import Cloud, Tenant, TenantFunction, TenantsFile
from weir.plan.cloud import cloud_steps, cloud_topology, measured_topology
from weir.plan.cloud.data_plane import cloud_configuration
from weir.plan.cloud.routers import ROUTERS
from weir.plan.cloud.security import SECURITIES
from weir.procedures.tenants.clouds import called, variant
from weir.protocol.configuration import ChainArea

DEPLOYMENT = "cloud-12345678"


def tenants(router: Router = "weir", **cloud: object) -> TenantsFile:
    return TenantsFile(
        weir=1,
        name="cloud",
        cloud=Cloud.model_validate({"router": router, **cloud}),
        tenants=(
            Tenant(name="blue", instances=2, floating=1),
            Tenant(name="red", functions=(TenantFunction(name="dpi"), TenantFunction(name="fw"))),
        ),
    )


def areas(topology: CloudTopology) -> dict[str, ChainArea]:
    return {one.name: one for one in cloud_configuration(topology).areas if isinstance(one, ChainArea)}


def options(topology: CloudTopology, router: str) -> dict[str, dict[str, object]]:
    way_out = areas(topology)[router].paths[0]
    return {stage.nf: dict(stage.options) for stage in way_out.stages}


def test_every_way_to_filter_and_every_router_that_a_file_may_name_is_there() -> None:
    assert set(SECURITIES) == set(get_args(Security)) == set(READERS)
    assert set(ROUTERS) == set(get_args(Router))


def test_a_tenants_addresses_are_those_that_linux_would_have() -> None:
    blue = options(cloud_topology(tenants(), DEPLOYMENT), "blue.router")
    assert blue["nat"]["external"] == "198.18.0.2/32"
    assert blue["nat"]["addresses"] == "198.18.0.3 10.0.0.3"
    assert blue["l3fwd"]["addresses"] == "198.18.0.2/16"
    assert blue["l3fwd"]["inbound_addresses"] == "10.0.0.1/24"
    assert blue["l3fwd"]["answers_for"] == "198.18.0.2/32, 198.18.0.3/32"
    assert blue["l3fwd"]["route_list"] == "0.0.0.0/0 via 198.18.0.1"
    assert blue["acl"]["rule_list"] == "deny any any 169.254.0.0/16"


def test_hosts_behind_functions_are_reached_through_the_last_one() -> None:
    red = options(cloud_topology(tenants(), DEPLOYMENT), "red.router")
    assert "10.0.0.3/32 via 10.0.0.5" in str(red["l3fwd"]["route_list"])


def test_through_what_tenants_share_the_way_leads_to_the_first_of_it_also_to_the_host_outside() -> None:
    topology = cloud_topology(tenants(functions=[{"name": "dpi"}]), DEPLOYMENT)
    assert topology.shared is not None
    dpi = topology.shared.functions[0].address
    routes = str(options(topology, "blue.router")["l3fwd"]["route_list"])
    assert routes == f"0.0.0.0/0 via {dpi}, 198.18.0.1/32 via {dpi}"


def test_back_a_packet_is_translated_and_then_routed_by_the_same_functions() -> None:
    out, back = areas(cloud_topology(tenants(), DEPLOYMENT))["blue.router"].paths
    assert [stage.name for stage in back.stages] == ["nat", "l3fwd"]
    assert {stage.name for stage in back.stages} < {stage.name for stage in out.stages}
    assert (out.in_, back.in_) == ("blue.router.inside", "blue.router.outside")
    assert out.out == back.out == ("blue.router.outside", "blue.router.inside")


def test_it_polls_where_the_tester_does_or_alone_on_the_core_that_is_given() -> None:
    alone = cloud_topology(tenants(), DEPLOYMENT, core=3)
    assert areas(alone)["blue.router"].core == 3
    assert alone.working_cores() == {3}
    measured = measured_topology(tenants(), DEPLOYMENT, (0, 1))
    assert areas(measured)["blue.router"].core == 0
    assert measured.working_cores() == {0, 1}
    assert cloud_topology(tenants("linux"), DEPLOYMENT, core=3).working_cores() == set()


def test_linux_forwards_and_translates_nothing_in_its_place() -> None:
    names = [step.name for step in cloud_steps(cloud_topology(tenants(), DEPLOYMENT))]
    assert names[-1] == "weir-dp"
    assert "weir-dp" not in [step.name for step in cloud_steps(cloud_topology(tenants("linux"), DEPLOYMENT))]
    for step in cloud_steps(cloud_topology(tenants(), DEPLOYMENT)):
        if step.name in ("interface:blue.router.qr", "interface:blue.router.qg"):
            assert step.params["addresses"] == step.params["routes"] == []
        if step.kind == "sysctl" and str(step.params["netns"]).endswith("blue.router"):
            assert "net.ipv4.ip_forward=1" not in str(step.params["settings"])


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        ({}, [(None, "bridge-filter")]),
        ({"router": ["linux", "weir"]}, [("Linux routes",) * 2, ("Weir routes",) * 2]),
        (
            {"router": ["linux", "weir"], "security": ["none", "bridge-filter"]},
            [
                (f"{security}, {router} routes",) * 2
                for security in ("none", "bridge-filter")
                for router in ("Linux", "Weir")
            ],
        ),
    ],
)
def test_clouds_that_are_compared_have_names_of_what_tells_them_apart(
    measure: dict[str, object], names: list[tuple[str | None, str]]
) -> None:
    compared = TenantsFile.model_validate({**tenants("linux").model_dump(mode="json"), "measure": measure})
    found = [
        (variant(compared, topology), called(compared, topology))
        for topology in (cloud_topology(one, DEPLOYMENT) for one in compared.compared())
    ]
    assert found == names
