# SPDX-License-Identifier: Apache-2.0
"""A chain over several hosts: what each of them builds, and that the parts fit together."""

from __future__ import annotations

from typing import Any

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.lab import Lab
from weir.plan import Plan
from weir.plan.spanning import part, with_addresses
from weir.plan.topology import next_hop
from weir.protocol.configuration import ChainArea

from .test_topology import DEPLOYMENT, lab

ADDRESSES = {"edge": "192.0.2.1", "core": "192.0.2.2", "far": "192.0.2.3"}
HOSTS: dict[str, Any] = {"tester": "edge", "functions": {"b": "core", "c": "far"}}
CARDS = {"edge": ["eth1", "eth2"], "core": ["ens1", "ens2"], "far": ["p1", "p2"]}

CARDS_OF_VLANS = {host: names[:1] for host, names in CARDS.items()}


def spanning_lab(hosts: dict[str, Any] = HOSTS, **parts: object) -> Lab:
    """Three functions, on as many hosts."""
    named = {name: {"nf": "l2fwd", "options": {"mode": "mac-rewrite"}} for name in "abc"}
    made = lab(functions=named, chain=[["a", "b", "c"]], hosts=hosts, **parts)
    return with_addresses(made, ADDRESSES)


def whole(technology: str, made: Lab) -> Topology:
    return plan.build_topology(made, technology, made.chains()[0], DEPLOYMENT)


def parts(technology: str, made: Lab) -> dict[str, Plan]:
    topology = whole(technology, made)
    return {host: Plan.of(part(topology, host), made) for host in ("edge", "core", "far")}


def spans(planned: Plan) -> list[dict[str, Any]]:
    return [dict(step.params) for step in planned.steps if step.kind == "span"]


@pytest.mark.parametrize("technology", ["direct", "linux-bridge"])
def test_each_host_opens_its_own_ports_and_runs_its_own_functions(technology: str) -> None:
    found = parts(technology, spanning_lab())
    opened = {host: {port.name for port in one.configure.ports} for host, one in found.items()}
    assert opened == {
        "edge": {"tester.left", "f1.left", "f1.right", "tester.right"},
        "core": {"f2.left", "f2.right"},
        "far": {"f3.left", "f3.right"},
    }
    areas = {host: {area.name for area in one.configure.areas} for host, one in found.items()}
    testers = {"generator.left", "generator.right", "receiver.left", "receiver.right"}
    assert areas == {"edge": {*testers, "f1"}, "core": {"f2"}, "far": {"f3"}}
    assert [bool(one.streams) for one in found.values()] == [True, False, False]


@pytest.mark.parametrize("technology", ["direct", "linux-bridge"])
def test_both_ends_of_a_wire_name_each_other(technology: str) -> None:
    found = {host: spans(one) for host, one in parts(technology, spanning_lab()).items()}
    by_link = {
        (one["link"], host): (one["local"], one["remote"], one["vni"])
        for host, ends in found.items()
        for one in ends
    }
    name = "wire" if technology == "direct" else "net"
    for link, left, right in (("1", "edge", "core"), ("2", "core", "far"), ("3", "far", "edge")):
        local, remote, vni = by_link.pop((f"{name}{link}", left))
        assert (remote, local, vni) == by_link.pop((f"{name}{link}", right))
        assert (local, remote) == (ADDRESSES[left], ADDRESSES[right])
    assert not by_link
    assert len({one["vni"] for ends in found.values() for one in ends}) == 3


@pytest.mark.parametrize("technology", ["direct", "linux-bridge"])
def test_frames_are_addressed_to_the_next_function_on_whichever_host(technology: str) -> None:
    made = spanning_lab()
    topology = whole(technology, made)
    for host, planned in parts(technology, made).items():
        for area in planned.configure.areas:
            if not isinstance(area, ChainArea):
                continue
            out = topology.port(f"{area.name}.right")
            assert area.paths[0].stages[0].options["dst_mac"] == next_hop(topology, out).mac, host


def test_no_step_of_a_part_is_about_another_host() -> None:
    for technology in ("direct", "linux-bridge"):
        for host, planned in parts(technology, spanning_lab()).items():
            own = {"edge": {"t", "f1"}, "core": {"f2"}, "far": {"f3"}}[host] | {"sw"}
            made = {str(step.params["netns"]) for step in planned.steps if step.kind == "netns"}
            assert {netns.rpartition("-")[2] for netns in made} <= own
            (weir_dp,) = (step for step in planned.steps if step.kind == "weir-dp")
            assert weir_dp.numbers("cores") == ([0, 1] if host == "edge" else [1])


def test_a_bridge_forwards_where_something_of_its_host_sends() -> None:
    made = spanning_lab({"tester": "edge", "functions": dict.fromkeys("abc", "core")})
    found = [part(whole("linux-bridge", made), host) for host in ("edge", "core")]
    assert [one.switch_cores for one in found] == [(0,), (1,)]
    assert [one.working_cores() for one in found] == [{0}, {1}]


def test_a_bridge_has_the_device_in_the_place_of_the_other_port() -> None:
    planned = parts("linux-bridge", spanning_lab())["core"]
    attached = [
        (step.params["bridge"], step.params["interface"])
        for step in planned.steps
        if step.kind == "bridge-port"
    ]
    assert attached == [
        ("net1", "net1.far"), ("net1", "f2.left"), ("net2", "f2.right"), ("net2", "net2.far"),
    ]  # fmt: skip


def test_cards_are_taken_in_the_order_of_the_chain() -> None:
    made = spanning_lab({**HOSTS, "wire": {"kind": "card", "cards": CARDS}})
    found = parts("direct", made)
    cards = {host: [(one["link"], one["card"]) for one in spans(planned)] for host, planned in found.items()}
    assert cards == {
        "edge": [("wire1", "eth1"), ("wire3", "eth2")],
        "core": [("wire1", "ens1"), ("wire2", "ens2")],
        "far": [("wire2", "p1"), ("wire3", "p2")],
    }


def test_vlans_of_one_card_are_counted_up_along_the_chain_and_alike_at_both_ends() -> None:
    made = spanning_lab({**HOSTS, "wire": {"kind": "vlan", "vlan": 100, "cards": CARDS_OF_VLANS}})
    found = parts("direct", made)
    assert {
        host: [(one["link"], one["card"], one["vlan"]) for one in spans(planned)]
        for host, planned in found.items()
    } == {
        "edge": [("wire1", "eth1", 100), ("wire3", "eth1", 102)],
        "core": [("wire1", "ens1", 100), ("wire2", "ens1", 101)],
        "far": [("wire2", "p1", 101), ("wire3", "p1", 102)],
    }
    (first, _) = (step.text for step in found["core"].steps if step.kind == "span")
    assert first.endswith("VLAN 100 of ens1, the wire to edge")


@pytest.mark.parametrize(
    ("frames", "vlan", "wire", "needed_bytes"),
    [
        ([64, 1518], None, {}, 1550),
        ([64], None, {}, 96),
        ([1518], 100, {}, 1550),  # Weir's sizes have the tag in them
        ([1522], 100, {}, 1554),
        ([1518], None, {"kind": "card", "cards": CARDS}, 1500),
        ([1518], None, {"kind": "vlan", "vlan": 7, "cards": CARDS_OF_VLANS}, 1500),
        ([1518], None, {"addresses": {name: f"2001:db8::{name[0]}" for name in ADDRESSES}}, 1570),
    ],
)
def test_what_a_wire_needs_below_it(
    frames: list[int], vlan: int | None, wire: dict[str, Any], needed_bytes: int
) -> None:
    """VXLAN: 14 bytes of Ethernet, 8 of VXLAN, 8 of UDP, 20 of IPv4 or 40 of IPv6 (RFC 7348)."""
    traffic = {"frames": frames} | ({"vlan": vlan} if vlan is not None else {})
    made = spanning_lab({**HOSTS, "wire": wire}, traffic=traffic)
    one = whole("direct", made).spans[0]
    assert one.mtu_bytes + one.overhead_bytes == needed_bytes


def test_the_testers_own_limit_is_that_of_its_device_where_one_of_its_ports_is_at_another_host() -> None:
    made = spanning_lab({"tester": "edge", "functions": {"c": "far"}})
    topology = part(whole("direct", made), "edge")
    assert [topology.port(f"tester.{side}").kind for side in ("left", "right")] == [
        "virtio-user", "packet_socket",
    ]  # fmt: skip
    loop = plan.loopback(topology, "small-87654321")
    assert [(port.name, port.kind, port.interface) for port in loop.ports] == [
        ("tester.left", "packet_socket", "left"), ("tester.right", "packet_socket", "right"),
    ]  # fmt: skip
    assert not loop.spans
    assert [step.kind for step in Plan.of(loop, made).steps].count("veth") == 1
