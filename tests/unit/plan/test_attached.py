# SPDX-License-Identifier: Apache-2.0
"""A tester at a network of others: what stands of it on this host, and what it sends."""

from __future__ import annotations

import ipaddress

import pytest

from weir.base.cloud import CloudTester
from weir.base.topology import Topology
from weir.plan.attached import (
    PORT,
    SOURCES,
    attached_configuration,
    attached_steps,
    attached_streams,
    attached_topology,
)

TESTER = CloudTester(core=3, system_cores=(0,), senders=())


@pytest.fixture
def topology() -> Topology:
    return attached_topology("cloud-verify", "cloud-verify-c0ffee01", "PVP", TESTER)


def test_nothing_of_it_is_in_the_hosts_own_namespace_and_all_of_it_goes_with_its_own(
    topology: Topology,
) -> None:
    steps = attached_steps(topology, "ens1f1")
    assert [one.kind for one in steps] == ["run-directory", "netns", "sysctl", "macvlan", "weir-dp"]
    (device,) = [one for one in steps if one.kind == "macvlan"]
    assert device.params["netns"] == "weir-c0ffee01-t"
    assert device.params["below"] == "ens1f1"
    assert device.undo_text == ""
    assert steps[-1].params["cores"] == [3]


def test_its_address_is_locally_administered_and_has_all_of_the_deployments_token(topology: Topology) -> None:
    assert topology.port(PORT).mac == "02:57:c0:ff:ee:01"


def test_it_sends_and_receives_at_one_port_on_one_core(topology: Topology) -> None:
    made = attached_configuration(topology)
    assert [(one.name, one.netns, one.wire) for one in made.ports] == [
        (PORT, "/run/netns/weir-c0ffee01-t", "physical")
    ]
    assert [(one.kind, one.core) for one in made.areas] == [("generator", 3), ("receiver", 3)]


def test_its_core_is_what_a_deployment_of_it_claims(topology: Topology) -> None:
    assert topology.working_cores() == {3}


def test_packets_go_to_the_first_function_between_addresses_of_benchmarks(topology: Topology) -> None:
    (stream,) = attached_streams(topology, "fa:16:3e:00:00:01", "64", 10, 7).streams
    assert (stream.port, stream.to) == (PORT, PORT)
    assert (stream.template.src_mac, stream.template.dst_mac) == ("02:57:c0:ff:ee:01", "fa:16:3e:00:00:01")
    benchmarks = ipaddress.IPv4Network("198.18.0.0/15")
    assert ipaddress.ip_address(stream.template.src_ip) in ipaddress.IPv4Network(SOURCES)
    assert ipaddress.IPv4Network(SOURCES).subnet_of(benchmarks)
    assert ipaddress.ip_address(stream.template.dst_ip) in benchmarks
    assert ipaddress.ip_address(stream.template.dst_ip) not in ipaddress.IPv4Network(SOURCES)
    assert stream.flows is not None
    assert (stream.flows.count, stream.flows.seed, stream.flows.vary) == (10, 7, ("src_port",))
