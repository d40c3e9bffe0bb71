# SPDX-License-Identifier: Apache-2.0
"""The topology that a lab asks for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir import plan
from weir.base.topology import Topology
from weir.lab import Chain, Lab

DEPLOYMENT = "small-1a2b3c4d"
TECHNOLOGIES = ("direct", "linux-bridge", "ovs", "ovs-dpdk", "sr-iov")


def lab(**parts: object) -> Lab:
    """A small lab with all technologies."""
    fields = {"weir": 1, "name": "small", "chain": "PVP", "technology": list(TECHNOLOGIES)}
    return Lab.model_validate(fields | parts)


def topology(technology: str, length: int = 1, **parts: object) -> Topology:
    """That technology under a chain of so many functions; `parts` of the lab as in its file."""
    chain = Chain("chain", ("default",) * length)
    return plan.build_topology(lab(**parts), technology, chain, DEPLOYMENT)


def test_ports_and_links_run_from_the_testers_left_to_its_right() -> None:
    built = topology("linux-bridge", 2)
    assert [port.name for port in built.ports] == [
        "tester.left",
        "f1.left",
        "f1.right",
        "f2.left",
        "f2.right",
        "tester.right",
    ]
    assert [(link.name, link.left, link.right) for link in built.links] == [
        ("net0", "tester.left", "f1.left"),
        ("net1", "f1.right", "f2.left"),
        ("net2", "f2.right", "tester.right"),
    ]


@given(st.integers(1, 64), st.sampled_from(TECHNOLOGIES))
@settings(max_examples=60, deadline=None)
def test_a_chain_of_any_length_is_sound(functions: int, technology: str) -> None:
    built = topology(technology, functions)
    assert len(built.links) == functions + 1
    assert len(built.functions()) == functions
    assert (
        len({port.name for port in built.ports})
        == len({port.mac for port in built.ports})
        == len(built.ports)
    )
    for index, link in enumerate(built.links):
        assert built.port(link.left).link == built.port(link.right).link == link.index == index
    for port in built.ports:
        assert len(port.name) <= 15, "a kernel interface has this name"
        assert len(port.interface or "") <= 15


def test_the_second_bit_of_every_mac_says_locally_administered_unicast() -> None:
    for port in topology("ovs", 64).ports:
        assert int(port.mac[:2], 16) & 0b11 == 0b10


def test_a_wire_has_virtio_user_at_its_left_and_vhost_at_its_right() -> None:
    built = topology("direct", 3)
    for link in built.links:
        left, right = built.port(link.left), built.port(link.right)
        assert (left.kind, right.kind) == ("virtio-user", "vhost")
        assert left.socket == right.socket
        assert not link.network


def test_a_function_stays_on_cores_of_its_own() -> None:
    functions = {"default": {"nf": "l3fwd", "architecture": "dispatch", "cores": [4, 5, 5]}}
    built = topology("direct", 2, functions=functions)
    assert [node.cores for node in built.functions()] == [(4, 5, 5), (4, 5, 5)]


def test_functions_are_spread_over_their_cores_in_the_order_of_the_chain() -> None:
    built = topology("direct", 5, cores={"tester": [0], "functions": [1, 2], "switch": [3]})
    assert [node.cores for node in built.functions()] == [(1,), (1,), (1,), (2,), (2,)]


def test_namespaces_carry_the_hex_digits_of_their_deployment() -> None:
    built = topology("linux-bridge")
    assert {port.netns for port in built.ports} == {"weir-1a2b3c4d-t", "weir-1a2b3c4d-f1"}


@pytest.mark.parametrize("name", ["small", "small-1a2b3c4", "small-1A2B3C4D", "../x-1a2b3c4d", ""])
def test_a_bad_deployment_id_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected <lab>-<8 hex digits>"):
        plan.build_topology(lab(), "direct", Chain("PVP", ("default",)), name)


def test_a_deployment_id_is_the_labs_name_and_a_token() -> None:
    assert plan.deployment_id("small", "1a2b3c4d") == DEPLOYMENT


@pytest.mark.parametrize(
    ("technology", "kinds", "network"),
    [
        ("direct", ("virtio-user", "vhost"), False),
        ("ovs-dpdk", ("virtio-user", "vhost"), False),
        ("linux-bridge", ("packet_socket", "packet_socket"), False),
        ("ovs", ("packet_socket", "packet_socket"), False),
        ("sr-iov", ("physical", "physical"), True),
    ],
)
def test_the_loopback_wires_the_tester_to_itself_by_the_same_kind_of_port(
    technology: str, kinds: tuple[str, str], network: bool
) -> None:
    looped = plan.loopback(topology(technology, 2), "small-99999999")
    assert tuple(port.kind for port in looped.ports) == kinds
    assert [node.name for node in looped.nodes] == ["tester"]
    assert [(link.left, link.right, link.network) for link in looped.links] == [
        ("tester.left", "tester.right", network)
    ]
    assert "1a2b" not in looped.model_dump_json(), "something belongs to the first deployment"


@pytest.mark.parametrize(
    ("technology", "cores"),
    [("direct", ()), ("sr-iov", ()), ("linux-bridge", (0, 1)), ("ovs", (2,)), ("ovs-dpdk", (2,))],
)
def test_the_switch_runs_where_it_forwards(technology: str, cores: tuple[int, ...]) -> None:
    placed = {"tester": [0], "functions": [1], "switch": [2]}
    assert topology(technology, cores=placed).switch_cores == cores
