# SPDX-License-Identifier: Apache-2.0
"""What weir-dp is told for a topology."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.lab import Lab

from .test_topology import TECHNOLOGIES, lab, topology

RUN_DIR = "/run/weir/small-1a2b3c4d"


def config(technology: str, length: int = 1, **parts: object) -> dict[str, Any]:
    built = topology(technology, length, **parts)
    devices = {port.name: f"0000:05:{index:02x}.0" for index, port in enumerate(built.ports)}
    return plan.Plan.of(built, lab(**parts)).opened(RUN_DIR, devices).arguments()


def sent(built: Topology, its: Lab, frame: str) -> list[dict[str, Any]]:
    """The streams, as weir-dp is told of them."""
    streams: list[dict[str, Any]] = plan.streams(built, its, frame).arguments()["streams"]
    return streams


def areas(made: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [area for area in made["areas"] if area["kind"] == kind]


def test_all_vhost_ports_are_opened_before_the_first_virtio_user_port() -> None:
    drivers = [
        port["devargs"].partition(",")[0].rstrip("0123456789") for port in config("direct", 2)["ports"]
    ]
    assert drivers == ["net_vhost"] * 3 + ["net_virtio_user"] * 3


def test_both_ends_of_a_wire_name_the_same_socket() -> None:
    devargs = {port["name"]: port["devargs"] for port in config("direct")["ports"]}
    assert f"iface={RUN_DIR}/wire0.sock" in devargs["f1.left"]
    assert f"path={RUN_DIR}/wire0.sock" in devargs["tester.left"]
    assert "server=1" not in devargs["tester.left"]


def test_towards_ovs_weir_dp_is_the_server_of_its_sockets() -> None:
    for port in config("ovs-dpdk")["ports"]:
        assert "server=1" in port["devargs"]
        assert f"path={RUN_DIR}/{port['name']}.sock" in port["devargs"]


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_devices_have_names_of_their_own(technology: str) -> None:
    devices = [port["devargs"].split(",")[0] for port in config(technology, 5)["ports"] if "devargs" in port]
    assert len(set(devices)) == len(devices)


def test_kernel_ports_are_named_by_interface_and_namespace() -> None:
    port = next(port for port in config("linux-bridge")["ports"] if port["name"] == "f1.left")
    assert (port["kind"], port["interface"], port["netns"]) == (
        "packet_socket",
        "left",
        "/run/netns/weir-1a2b3c4d-f1",
    )


def test_memory_ports_are_each_others_peers() -> None:
    made = config("direct", technologies={"direct": {"wire": "memory"}})
    peers = {port["name"]: port["peer"] for port in made["ports"]}
    assert all(peers[peer] == name for name, peer in peers.items())


def test_only_the_testers_ports_are_asked_for_timestamps_as_the_lab_says() -> None:
    made = config("sr-iov", tester={"timestamps": "hardware"})
    asked = {port["name"]: port.get("timestamps") for port in made["ports"]}
    assert asked.pop("tester.left") == asked.pop("tester.right") == "hardware"
    assert set(asked.values()) == {None}
    unasked = {port["name"]: port.get("timestamps") for port in config("direct")["ports"]}
    assert unasked["tester.left"] == "auto"


def test_every_port_is_polled_by_exactly_one_core() -> None:
    made = config("direct", 3, cores={"tester": [0, 1], "functions": [2, 3], "switch": [4]})
    polled: dict[str, set[int]] = {}
    for area in made["areas"]:
        names = (
            [area["port"]]
            if "port" in area
            else [path[end] for path in area["paths"] for end in ("in", "out")]
        )
        for name in names:
            polled.setdefault(name, set()).add(area["core"])
    assert set(polled) == {port["name"] for port in made["ports"]}
    assert all(len(cores) == 1 for cores in polled.values())


def test_a_function_sends_from_its_egress_port_to_the_next_hop() -> None:
    built = topology("ovs", 2)
    first = areas(config("ovs", 2), "chain")[0]
    right, left = (path["stages"][0]["options"] for path in first["paths"])
    assert (right["src_mac"], right["dst_mac"]) == (built.port("f1.right").mac, built.port("f2.left").mac)
    assert (left["src_mac"], left["dst_mac"]) == (built.port("f1.left").mac, built.port("tester.left").mac)


def test_a_function_that_swaps_addresses_is_given_none() -> None:
    functions = {"default": {"nf": "l2fwd", "options": {"mode": "mac-swap"}}}
    path = areas(config("ovs", functions=functions), "chain")[0]["paths"][0]
    assert path["stages"] == [{"nf": "l2fwd", "options": {"mode": "mac-swap"}}]


@pytest.mark.parametrize(("direction", "generators"), [("bidirectional", 2), ("left-to-right", 1)])
def test_both_ends_receive_whatever_the_direction(direction: str, generators: int) -> None:
    made = config("direct", tester={"direction": direction})
    assert len(areas(made, "generator")) == generators
    assert len(areas(made, "receiver")) == 2
    assert len(sent(topology("direct"), lab(tester={"direction": direction}), "64")) == generators


@pytest.mark.parametrize(
    ("technology", "threshold_us"), [("direct", 50), ("ovs-dpdk", 50), ("linux-bridge", 1000)]
)
def test_loops_with_kernel_ports_may_take_longer_before_it_is_a_stall(
    technology: str, threshold_us: float
) -> None:
    assert set(config(technology)["stall_threshold_us"].values()) == {threshold_us}


def test_packet_buffers_suffice_to_fill_all_rings() -> None:
    made = config("ovs-dpdk", 4)
    assert made["mbufs"] > sum(port["rx_queue_size"] + port["tx_queue_size"] for port in made["ports"])


def test_there_are_packet_buffers_for_what_an_smf_may_let_wait() -> None:
    def buffers(workers: int, **options: object) -> int:
        way = {"architecture": "dispatch", "workers": workers}
        functions = {"default": {"nf": "upf", "options": options, **way}}
        return int(config("direct", functions=functions)["mbufs"])

    n4 = {"n4_address": "127.0.0.5"}
    assert buffers(2, **n4, buffer_packets_max=5000) == buffers(2, buffer_packets_max=5000) + 10_000
    assert buffers(1, **n4) == buffers(1) + 1024


def test_a_socket_path_that_the_kernel_would_refuse_is_refused_first() -> None:
    with pytest.raises(plan.PlanError, match="WEIR_RUN_DIR"):
        plan.Plan.of(topology("direct"), lab()).opened("/run/" + "x" * 100)


def test_a_virtual_function_that_is_not_bound_yet_is_refused() -> None:
    with pytest.raises(plan.PlanError, match=r"tester\.left"):
        plan.Plan.of(topology("sr-iov"), lab()).opened(RUN_DIR)


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_frames_are_addressed_to_the_next_hop(technology: str) -> None:
    built: Topology = topology(technology, 2)
    there, back = sent(built, lab(), "64")
    assert there["template"]["dst_mac"] == built.port("f1.left").mac
    assert back["template"]["dst_mac"] == built.port("f2.right").mac
    assert (there["port"], there["to"]) == (back["to"], back["port"]) == ("tester.left", "tester.right")


@pytest.mark.parametrize(("ip", "network"), [(4, "198.18.0.0/15"), (6, "2001:2::/48")])
def test_addresses_are_those_set_aside_for_benchmarks(ip: int, network: str) -> None:
    made = sent(topology("direct"), lab(traffic={"ip": ip}), "128")
    for stream in made:
        for key in ("src_ip", "dst_ip"):
            assert ipaddress.ip_address(stream["template"][key]) in ipaddress.ip_network(network)
    assert made[0]["template"]["src_ip"] == made[1]["template"]["dst_ip"]


def test_ends_have_the_addresses_that_the_lab_gives_them() -> None:
    ends = {
        "left": {"address": "10.0.0.1", "port": 5000},
        "right": {"address": "198.51.100.7", "port": 53, "to_address": "203.0.113.1"},
    }
    made = sent(topology("direct"), lab(traffic=ends), "64")
    keys = ("src_ip", "src_port", "dst_ip", "dst_port")
    there, back = ([stream["template"].get(key) for key in keys] for stream in made)
    assert there == ["10.0.0.1", 5000, "198.51.100.7", 53]
    assert back == ["198.51.100.7", 53, "203.0.113.1", 5000]


@pytest.mark.parametrize(
    ("traffic", "there", "back"),
    [
        ({}, ["src_ip", "dst_ip", "src_port", "dst_port"], ["dst_ip", "src_ip", "dst_port", "src_port"]),
        ({"flows": {"count": 9, "vary": ["src_ip"]}}, ["src_ip"], ["dst_ip"]),
        (
            {"left": {"to_address": "203.0.113.9"}, "flows": {"count": 9, "vary": ["dst_ip", "src_port"]}},
            ["src_port"],
            ["dst_port"],
        ),
        ({"right": {"to_port": 53}, "flows": {"count": 9, "vary": ["src_port"]}}, ["src_port"], []),
    ],
)
def test_flows_of_what_runs_back_answer_those_of_the_way_there(
    traffic: dict[str, Any], there: list[str], back: list[str]
) -> None:
    made = [stream["flows"] for stream in sent(topology("direct"), lab(traffic=traffic), "64")]
    assert [one.get("vary", []) for one in made] == [there, back]
    assert [one.get("exchanged", False) for one in made] == [False, True]
    count = lab(traffic=traffic).traffic.flows.count
    assert [one.get("count", 1) for one in made] == [count, count if back else 1]


def test_a_mix_is_sent_as_its_genome() -> None:
    made = sent(topology("direct"), lab(), "imix:aaaaaaaddddg")
    assert made[0]["frame"] == {"imix": "aaaaaaaddddg"}


def test_a_vlan_tag_is_only_there_if_asked_for() -> None:
    assert "vlan" not in sent(topology("direct"), lab(), "64")[0]["template"]
    tagged = sent(topology("direct"), lab(traffic={"vlan": 7}), "68")[0]
    assert tagged["template"]["vlan"] == 7
