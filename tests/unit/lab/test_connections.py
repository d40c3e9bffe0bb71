# SPDX-License-Identifier: Apache-2.0
"""Connections as a lab's traffic: what is accepted, what the tester is told, what is refused and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir import plan
from weir.lab import Lab, load_lab
from weir.lab.problem import LabFileError
from weir.plan.connections import connections
from weir.plan.execution import execution
from weir.plan.topology import PlanError

SMALL = "weir: 1\nname: small\nchain: PVP\ntechnology: direct\n"


def loaded(folder: Path, traffic: str, more: str = "") -> Lab:
    (folder / "lab.yml").write_text(f"{SMALL}traffic: {{{traffic}}}\n{more}")
    return load_lab(folder, cpus=[0, 1])


def test_without_more_words_a_lab_has_tcp_sessions_of_one_request(tmp_path: Path) -> None:
    traffic = loaded(tmp_path, "connections: {}").traffic
    assert traffic.frames == ("connections",)
    assert traffic.connections is not None
    (service,) = traffic.connections.services
    assert (service.l4, service.port, service.transactions, service.close) == ("tcp", 80, 1, "fin")
    assert traffic.connections.goals == ("new-connections",)
    assert traffic.connections.sources == 16 * (65_535 - 1024 + 1)


def test_clients_are_at_the_left_end_and_servers_at_the_right_one(tmp_path: Path) -> None:
    lab = loaded(
        tmp_path,
        "left: {address: 10.0.0.1, to_address: 203.0.113.80}, right: {address: 10.1.0.1}, vlan: 7, "
        "connections: {clients: 4, client_ports: [2000, 2999], servers: 2, retransmit_ms: 300, "
        "services: [{port: 443, think_ms: 5}, {l4: udp, port: 53, weight: 3, answer_bytes: 100}]}",
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    told = connections(topology, lab)
    assert (told.clients.address, told.clients.addresses) == ("10.0.0.1", 4)
    assert (told.clients.first_port, told.clients.last_port) == (2000, 2999)
    assert (told.servers.address, told.servers.addresses, told.vlan) == ("203.0.113.80", 2, 7)
    assert told.clients.src_mac == topology.port("tester.left").mac
    assert told.servers.src_mac == topology.port("tester.right").mac
    assert told.retransmit_ns == 300_000_000
    assert [(one.l4, one.port, one.weight, one.think_ns) for one in told.services] == [
        ("tcp", 443, 1, 5_000_000),
        ("udp", 53, 3, 0),
    ]


def test_connections_are_of_the_version_of_ip_that_the_traffic_has(tmp_path: Path) -> None:
    lab = loaded(tmp_path, "ip: 6, right: {address: '2001:2:0:2::80'}, connections: {clients: 4}")
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    told = connections(topology, lab)
    assert (told.clients.address, told.servers.address) == ("2001:2:0:1::1", "2001:2:0:2::80")
    assert told.mss is None


@pytest.mark.parametrize(
    ("function", "who"),
    [
        ("{nf: nat, options: {external: 203.0.113.1/32}}", "nat in f1"),
        ("{nf: lb, options: {services: '198.19.0.1:80/tcp 198.19.0.2:80'}}", "lb in f1"),
        ("{nf: acl, options: {default: permit, ipv6: drop}}", "acl in f1"),
    ],
)
def test_a_function_that_carries_no_ipv6_is_refused(tmp_path: Path, function: str, who: str) -> None:
    lab = loaded(tmp_path, "ip: 6, connections: {}", f"functions: {{default: {function}}}\n")
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    with pytest.raises(PlanError, match=f"{who} lets no IPv6 through, and connections are of IPv6"):
        connections(topology, lab)


@pytest.mark.parametrize(
    "function",
    [
        "{nf: nat, options: {external: 203.0.113.1/32, ipv6: forward}}",
        "{nf: firewall, options: {default: permit, ipv6: rules}}",
        "{nf: l3fwd}",
    ],
)
def test_a_function_that_carries_ipv6_is_taken(tmp_path: Path, function: str) -> None:
    lab = loaded(tmp_path, "ip: 6, connections: {}", f"functions: {{default: {function}}}\n")
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    assert connections(topology, lab).clients.address == "2001:2:0:1::1"


def test_areas_of_clients_and_servers_take_the_place_of_generators(tmp_path: Path) -> None:
    lab = loaded(tmp_path, "connections: {}")
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    kinds = {area.name: area.kind for area in plan.configure(topology, lab).areas}
    assert (kinds["clients.left"], kinds["servers.right"]) == ("clients", "servers")
    assert not {"generator", "receiver"} & set(kinds.values())
    assert plan.Plan.of(topology, lab).streams == {}
    with pytest.raises(PlanError, match="connections are not modelled"):
        execution(topology, lab, lab.chains()[0], "connections")


def test_more_clients_need_more_memory(tmp_path: Path) -> None:
    few, many = (loaded(tmp_path, f"connections: {{clients: {count}}}") for count in (1, 200))
    needed = [plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000") for lab in (few, many)]
    from weir.plan.memory import memory_mb

    assert memory_mb(needed[1], many) - memory_mb(needed[0], few) > 400


@pytest.mark.parametrize(
    "wanted",
    [
        "services: [{transactions: 5, think_ms: 475}]",
        "drain_s: 0",
        "goals: [concurrent-connections], services: [{transactions: 6, think_ms: 5000}]",
        "drain_s: 2.6, services: [{transactions: 6, think_ms: 500}]",
    ],
)
def test_services_may_think_while_connections_have_time_or_are_held(wanted: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, f"connections: {{{wanted}}}").traffic.connections is not None


@pytest.mark.parametrize(
    ("traffic", "more", "said"),
    [
        ("frames: [64], connections: {}", "", "connections are measured alone"),
        ("frames: [connections]", "", "traffic.connections is absent"),
        ("ip: 6, connections: {mss: 1460}", "", "at most 1440 with IPv6"),
        (
            "ip: 6, connections: {services: [{l4: udp, answer_bytes: 1472}]}",
            "",
            "at most 1452 with udp and IPv6",
        ),
        (
            "ip: 6, left: {address: '2001:2::ffff:fff9'}, connections: {}",
            "",
            "not so many addresses of its /96",
        ),
        ("ip: 6, left: {address: '2001:2:0:2::'}, connections: {}", "", "reaches the servers' addresses"),
        ("ip: 6, left: {address: 198.18.0.1}, connections: {}", "", "expected an IPv6 address"),
        ("pacing: recorded, connections: {}", "", "connections were not captured"),
        ("connections: {clients: 65536, client_ports: [1, 60000]}", "", "at most 16,777,216 of both"),
        ("connections: {client_ports: [2000, 1000]}", "", "expected the first one first"),
        ("connections: {goals: [new-connections, new-connections]}", "", "each once"),
        ("connections: {services: [{l4: udp, answer_bytes: 2000}]}", "", "a datagram of 2000 bytes"),
        ("connections: {services: []}", "", "services"),
        (
            "connections: {services: [{}, {transactions: 6, think_ms: 500}]}",
            "",
            "2.5 s to think, and what is opened last has drain_s, 2 s; expected a drain_s of at least 2.6",
        ),
        (
            "connections: {services: [{transactions: 5, think_ms: 500}]}",
            "",
            "2 s to think, and what is opened last has drain_s, 2 s; expected a drain_s of at least 2.1",
        ),
        ("connections: {success_ratio: 0}", "", "success_ratio"),
        ("left: {address: 255.255.255.250}, connections: {}", "", "there are not so many addresses"),
        ("left: {address: 198.18.255.255}, connections: {}", "", "reaches the servers' addresses"),
        ("connections: {}", "measure: {latency: {}}\n", "connections have none"),
        ("connections: {}", "measure: {rounds: 2}\n", "one round"),
        ("capture: {left: lab.yml}, connections: {}", "", "where connections are made"),
    ],
)
def test_what_cannot_be_is_refused_in_the_labs_words(
    tmp_path: Path, traffic: str, more: str, said: str
) -> None:
    with pytest.raises(LabFileError) as refused:
        loaded(tmp_path, traffic, more)
    assert said in str(refused.value)
