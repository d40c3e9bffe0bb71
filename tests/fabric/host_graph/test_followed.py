# SPDX-License-Identifier: Apache-2.0
"""A packet followed through Open vSwitch, its VLANs and patches, on a graph that was never built."""

from __future__ import annotations

from weir.fabric.host_graph.asking import Route
from weir.fabric.host_graph.way import way
from weir.results.document import HOST_GRAPH_VERSION
from weir.results.host_graph import HostGraph, Interface, Join, Namespace, SwitchBridge, SwitchPort, Traffic

SOCKET = "/run/db.sock"
TRAFFIC = Traffic(
    rx_packets=0, rx_bytes=0, rx_dropped=0, rx_errors=0, tx_packets=0, tx_bytes=0, tx_dropped=0, tx_errors=0
)


class Direct:
    """Every namespace sends what is not its own by its eth0, directly."""

    def route(self, _namespace: str, _destination: str, _source: str, _came_by: str | None) -> Route | str:
        return Route(local=False, interface="eth0", gateway=None)

    def learned(self, _namespace: str, _bridge: str, _mac: str) -> str | None:
        return None


def interface(place: int, index: int, name: str, *addresses: str) -> Interface:
    return Interface(
        id=f"{place}/{index}", name=name, index=index, kind="veth", mac=f"02:00:00:00:0{place}:0{index}",
        mtu_bytes=1500, up=True, addresses=list(addresses), details={}, holder=None,
        traffic=TRAFFIC, rates=None,
    )  # fmt: skip


def tenants(tag_of_second: int, *, twice: bool = False) -> HostGraph:
    """Two hosts at two switches that a patch joins; `twice`: a third one has the second one's address."""
    switch = [interface(1, 1, "tap1"), interface(1, 2, "tap2"), interface(1, 3, "tap3")]
    third = "10.0.0.2/24" if twice else "10.0.0.3/24"
    hosts = [
        interface(place, 1, "eth0", address)
        for place, address in ((2, "10.0.0.1/24"), (3, "10.0.0.2/24"), (4, third))
    ]

    def port(name: str, kind: str, tag: int | None, at: str | None, **options: str) -> SwitchPort:
        return SwitchPort(name=name, type=kind, tag=tag, interface=at, options=options)

    ports = (
        [port("tap1", "system", 7, "1/1"), port("up", "patch", None, None, peer="down")],
        [
            port("tap2", "system", tag_of_second, "1/2"),
            port("tap3", "system", 7, "1/3"),
            port("down", "patch", None, None, peer="up"),
        ],
    )
    bridges = [
        SwitchBridge(
            id=name, name=name, database=SOCKET, namespace="1", datapath="system", ports=each
        )
        for name, each in zip(("br-a", "br-b"), ports, strict=True)
    ]  # fmt: skip
    pairs = [Join(kind="veth", ends=(f"1/{n}", f"{n + 1}/1")) for n in (1, 2, 3)]
    spaces = [("1", "node", switch), *((str(n), f"host{n}", [one]) for n, one in enumerate(hosts, 2))]
    return HostGraph(
        version=HOST_GRAPH_VERSION,
        host="box",
        looked_at="2026-11-24T12:00:00+00:00",
        seconds=None,
        namespaces=[
            Namespace(id=key, name=name, forwards=False, processes=0, interfaces=inside)
            for key, name, inside in spaces
        ],
        bridges=bridges,
        joins=[*pairs, Join(kind="patch", ends=("br-a", "br-b"), ports=("up", "down"))],
        unseen=[],
    )


def test_it_passes_a_patch_within_its_vlan_and_rules_that_were_not_read_are_a_doubt() -> None:
    found = way(tenants(7), Direct(), "host2", "host3")
    assert found.arrives
    assert [one.name for one in found.hops] == ["eth0", "tap1", "br-a", "up", "down", "br-b", "tap2", "eth0"]
    assert found.hops[2].does == "switched, VLAN 7"
    assert found.doubts == [
        f"OpenFlow rules of {name} in node are not read: it is taken to learn" for name in ("br-a", "br-b")
    ]


def test_another_vlan_is_not_entered() -> None:
    found = way(tenants(8), Direct(), "host2", "10.0.0.2")
    assert not found.arrives
    assert found.stopped is not None
    assert found.stopped.startswith("no interface that it can come to has 10.0.0.2; a program that takes")


def test_of_two_that_have_the_address_only_the_one_in_the_vlan_gets_it() -> None:
    found = way(tenants(8, twice=True), Direct(), "host2", "host4")
    assert found.arrives
    assert found.hops[-1].namespace == "host4"


def test_two_that_could_take_it_are_not_guessed_between() -> None:
    found = way(tenants(7, twice=True), Direct(), "host2", "host4")
    assert not found.arrives
    assert found.stopped is not None
    assert "10.0.0.2 is at 2 places that it can come to" in found.stopped


def test_an_interface_that_is_down_passes_nothing() -> None:
    graph = tenants(7)
    graph.namespaces[0].interfaces[1].up = False
    found = way(graph, Direct(), "host2", "host3")
    assert not found.arrives
