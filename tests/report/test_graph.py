# SPDX-License-Identifier: Apache-2.0
"""How a host's graph is written: each thing where it is, and nothing in a name can break out of its label."""

from __future__ import annotations

import re

from weir.report import graph_mermaid, graph_text
from weir.results.document import HOST_GRAPH_VERSION
from weir.results.host_graph import (
    Difference,
    HostGraph,
    Interface,
    Join,
    Namespace,
    SwitchBridge,
    SwitchPort,
    Traffic,
)

SOCKET = "/run/openvswitch/db.sock"


def interface(place: int, index: int, name: str, kind: str, *addresses: str, dropped: int = 0) -> Interface:
    return Interface(
        id=f"{place}/{index}",
        name=name,
        index=index,
        kind=kind,
        mac="02:00:00:00:00:01",
        mtu_bytes=1500,
        up=True,
        addresses=list(addresses),
        details={},
        holder=None,
        traffic=Traffic(
            rx_packets=5, rx_bytes=300, rx_dropped=dropped, rx_errors=0,
            tx_packets=7, tx_bytes=420, tx_dropped=0, tx_errors=0,
        ),
        rates=None,
    )  # fmt: skip


def graph() -> HostGraph:
    host = [
        interface(1, 1, "lo", "loopback"),
        interface(1, 2, "tap1", "veth", dropped=3),
        interface(1, 3, "br0", "bridge"),
    ]
    blue = [interface(2, 2, "eth0", "veth", "10.0.0.3/24")]
    patches = [
        SwitchPort(name=own, type="patch", tag=None, interface=None, options={"peer": peer})
        for own, peer in (("up", "down"), ("down", "up"))
    ]
    port = SwitchPort(name="tap1", type="system", tag=7, interface="1/2", options={})
    bridges = [
        SwitchBridge(
            id=f"{SOCKET}/{name}", name=name, database=SOCKET, namespace="1", datapath="system", ports=ports
        )
        for name, ports in (("br-int", [port, patches[0]]), ("br-ex", [patches[1]]))
    ]  # fmt: skip
    return HostGraph(
        version=HOST_GRAPH_VERSION,
        host="box",
        looked_at="2026-11-24T12:00:00+00:00",
        seconds=None,
        namespaces=[
            Namespace(id="1", name="host", forwards=True, processes=1, interfaces=host),
            Namespace(id="2", name='blue"]; click', forwards=False, processes=0, interfaces=blue),
        ],
        bridges=bridges,
        joins=[
            Join(kind="veth", ends=("1/2", "2/2")),
            Join(kind="port", ends=("1/2", bridges[0].id)),
            Join(kind="patch", ends=(bridges[0].id, bridges[1].id)),
        ],
        unseen=["network namespaces of 3 processes of other users: run as root to see them"],
    )


def test_the_text_says_where_each_interface_leads() -> None:
    text = graph_text.render(graph())
    assert text.splitlines()[0].endswith(": 2 network namespaces, 4 interfaces, 2 Open vSwitch bridges")
    assert re.search(
        r'^  tap1 +veth +↔ eth0 in blue"\]; click, in br-int +rx 5, tx 7, dropped 3$', text, re.M
    )
    assert re.search(r"^  eth0 +veth +↔ tap1 in host +10\.0\.0\.3/24 +rx 5, tx 7$", text, re.M)
    assert "host  (forwards IPv4, 1 process)" in text
    assert re.search(r"^  tap1 +system +tag 7$", text, re.M)
    assert re.search(r"^  up +patch +↔ down in br-ex$", text, re.M)
    assert text.endswith("run as root to see them\n")


def test_mermaid_has_each_interface_once_and_each_join() -> None:
    lines = graph_mermaid.render(graph()).splitlines()
    assert lines[0] == "flowchart LR"
    nodes = [line.split("[")[0].strip() for line in lines if line.startswith("    n_")]
    assert len(nodes) == len(set(nodes)) == 5  # without the loopback, with both bridges
    edges = [line for line in lines if " --- " in line or " --> " in line or " === " in line]
    assert len(edges) == 3
    assert all(edge.split()[0] in nodes and edge.split()[2] in nodes for edge in edges)


def test_a_name_cannot_end_its_label() -> None:
    (line,) = [line for line in graph_mermaid.render(graph()).splitlines() if "blue" in line]
    assert line.count('"') == 2
    assert ";" not in line


def held_against_what_was_built() -> HostGraph:
    """An interface and a port are changed, an interface and a whole namespace are missing."""
    port = f"{SOCKET}/br-int:up"
    differences = [
        Difference(kind="changed", namespace="host", what="br0", at="1/3", said="is down, was made up"),
        Difference(kind="changed", namespace="host", what="up", at=port, said="has VLAN 3, was made with 2"),
        Difference(kind="missing", namespace="host", what="tap2", at=None, said="tun is not there"),
        Difference(kind="missing", namespace="red", what="", at=None, said="it is not there"),
    ]
    return graph().model_copy(update={"deployment": "cloud-1", "differences": differences})


def test_the_text_says_first_what_is_not_as_it_was_built() -> None:
    text = graph_text.render(held_against_what_was_built())
    (part,) = (part for part in text.split("\n\n") if part.startswith("not as cloud-1 was built:"))
    assert [line.split() for line in part.splitlines()[1:]] == [
        ["br0", "in", "host", "is", "down,", "was", "made", "up"],
        ["up", "in", "host", "has", "VLAN", "3,", "was", "made", "with", "2"],
        ["tap2", "in", "host", "tun", "is", "not", "there"],
        ["namespace", "in", "red", "it", "is", "not", "there"],
    ]
    alike = graph().model_copy(update={"deployment": "cloud-1"})
    assert "\n\nas cloud-1 was built\n\n" in graph_text.render(alike)
    assert "built" not in graph_text.render(graph())


def test_mermaid_marks_what_differs_and_has_what_is_missing() -> None:
    lines = graph_mermaid.render(held_against_what_was_built()).splitlines()
    marked = [line.split()[1] for line in lines if line.startswith("  class ")]
    assert len(marked) == 4
    assert all(any(line.strip().startswith(f"{node}[") for line in lines) for node in marked)
    assert any("tap2 in host: tun is not there" in line for line in lines)
    assert not [line for line in graph_mermaid.render(graph()).splitlines() if "differs" in line]
