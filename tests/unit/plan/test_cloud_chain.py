# SPDX-License-Identifier: Apache-2.0
"""A chain of instances with the tester outside: who works where, and as whom packets are sent."""

from __future__ import annotations

import pytest

from weir.base.cloud import OUTSIDE, CloudTopology
from weir.lab.tenants import Cloud, Tenant, TenantFunction, TenantsFile
from weir.plan import PlanError
from weir.plan.cloud import cloud_steps
from weir.plan.cloud.chain import chain_streams, chain_topology
from weir.plan.cloud.data_plane import cloud_configuration

DEPLOYMENT = "cloud-12345678"


def tenants(instances: int) -> TenantsFile:
    functions = tuple(TenantFunction(name=f"vnf{number}") for number in range(1, instances + 1))
    cloud = Cloud(compute_nodes=2, functions=functions)
    return TenantsFile(weir=1, name="cloud", cloud=cloud, tenants=(Tenant(name="project", instances=0),))


def chain(instances: int, vcpus: int = 0) -> CloudTopology:
    return chain_topology(tenants(instances), DEPLOYMENT, (0, 1, 2), vcpus)


def test_the_tester_has_one_port_outside_at_which_it_sends_and_receives() -> None:
    made = cloud_configuration(chain(2))
    assert [one.name for one in made.ports] == [OUTSIDE]
    assert [(one.name, one.port) for one in made.areas if hasattr(one, "port")] == [
        ("generator.outside", OUTSIDE),
        ("receiver.outside", OUTSIDE),
    ]


def test_packets_go_to_the_first_instance_as_one_for_whom_it_may_forward_and_come_back() -> None:
    topology = chain(2)
    (stream,) = chain_streams(topology, "64", 10, 3).streams
    assert topology.shared is not None
    first, second = topology.shared.functions
    assert stream.template.dst_mac == first.mac
    assert stream.template.src_mac == topology.shared.router_mac
    assert stream.template.src_ip in first.allowed
    assert stream.template.src_ip in second.allowed
    assert (stream.template.dst_ip, stream.to) == (topology.outside, OUTSIDE)
    assert (first.gateway, second.gateway) == (second.address, topology.outside)
    assert first.node != second.node
    assert stream.flows is not None
    assert (stream.flows.count, stream.flows.seed) == (10, 3)


def test_the_kernel_works_beside_the_tester_and_in_instances_on_as_many_cores_as_they_have() -> None:
    def steered(topology: CloudTopology) -> dict[str, object]:
        return {step.name: step.params["cores"] for step in cloud_steps(topology) if step.kind == "steering"}

    assert steered(chain(2)) == {"steering:network": [1, 2]}
    assert steered(chain(2, vcpus=1)) == {
        "steering:network": [1, 2],
        "steering:shared.vnf1": [1],
        "steering:shared.vnf2": [1],
    }


def test_more_vcpus_than_cores_and_no_instance_at_all_are_refused() -> None:
    with pytest.raises(PlanError, match="can have 2 of this machine's cores, not 3"):
        chain(1, vcpus=3)
    with pytest.raises(PlanError, match=r"expected cloud\.functions"):
        chain(0)
    with pytest.raises(PlanError, match="on two CPUs or more"):
        chain_topology(tenants(1), DEPLOYMENT, (0,))
