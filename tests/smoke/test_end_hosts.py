# SPDX-License-Identifier: Apache-2.0
"""Hosts at the ends of chains: what real stacks send arrives through every function, behind every switch."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import IPRoute
from pyroute2.ethtool import Ethtool
from pyroute2.netlink.rtnl import rt_type

from weir import fabric
from weir.base.topology import Topology
from weir.fabric import markers, namespace
from weir.fabric.end_host_command import at_end, become
from weir.lab import Lab, load_lab
from weir.plan import SOCKET, Step, end_hosts
from weir.procedures.driver import configured, planned
from weir.protocol import DataPlaneClient

from . import host_traffic
from .killed import kill, survived
from .surroundings import Surroundings
from .tiny import LAB, TECHNOLOGIES

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

RULES = Path(__file__).with_name("hosts.rules")
NAT: dict[str, Any] = {"nf": "nat", "options": {"external": "203.0.113.1/32"}}
FORWARDS = "tcp 203.0.113.1:8080 198.18.0.1:8080, udp 203.0.113.1:7007 198.18.0.1:7007"
SERVICE = "203.0.113.10:8080/tcp 198.19.0.1:8080"
GBPS = 1_000_000_000
FUNCTIONS: dict[str, dict[str, Any]] = {
    "l2fwd": {"nf": "l2fwd"},
    "l3fwd": {"nf": "l3fwd"},
    "firewall": {
        "nf": "firewall",
        "options": {"rules": str(RULES), "not_ipv4": "forward"},
    },
    "firewall-ipv4": {"nf": "firewall", "options": {"default": "permit"}},
    "acl": {"nf": "acl", "options": {"rule_list": "permit any any any", "not_ipv4": "forward"}},
    "dpi": {"nf": "dpi", "options": {"ipv6": "forward"}},
    "impair": {"nf": "impair", "options": {"delay_ns": 100_000}},
    "policer": {
        "nf": "policer",
        "options": {"tenants": f"default srtcm cir_bps={GBPS} cbs_bytes=9000000 ebs_bytes=9000000"},
    },
    "shaper": {"nf": "shaper", "options": {"tenants": f"default rate_bps={GBPS}", "queue_packets": 4096}},
    "router": {
        "router": {"tenants": [{"prefix": "198.18.0.0/24"}], "external": "203.0.113.1/32", "isolate": True}
    },
    "workers": {
        "chain": [NAT, {"nf": "l3fwd"}],
        "architecture": "dispatch",
        "fastpath": True,
    },
}
TRANSLATING = ("router", "workers")
"""What begins on the right reaches nobody through them."""
ALL_THAT_RESOLVE = ("l2fwd", "dpi", "impair", "policer", "shaper", "acl", "firewall")


def lab_of(technology: str, functions: dict[str, dict[str, Any]], **traffic: object) -> Lab:
    """One chain of these, in their order."""
    tiny = load_lab(LAB, quick=False, cpus=sorted(os.sched_getaffinity(0)))
    parts = tiny.model_dump(mode="json", by_alias=True, exclude_unset=True)
    parts |= {"technology": technology, "baseline": technology, "functions": functions}
    parts |= {"chain": [list(functions)], "traffic": {"frames": [64], **traffic}}
    return Lab.model_validate(parts)


def topology_of(lab: Lab) -> Topology:
    (technology,) = lab.technology
    refusal = fabric.check(technology, lab.options(technology), hosts=True)
    if refusal is not None:
        pytest.skip(f"{technology} cannot run here: {refusal.missing}")
    return end_hosts.with_hosts(planned(lab, technology, lab.chains()[0]), lab)


def steps_of_hosts(lab: Lab, topology: Topology) -> list[Step]:
    """All but those of weir-dp."""
    made = end_hosts.planned(topology, lab)
    return [step for step in made.steps if step.kind not in ("hugepages", "weir-dp")]


@contextmanager
def forwarding(lab: Lab, topology: Topology) -> Iterator[None]:
    """While it is deployed, as `weir deploy` does it."""
    made = end_hosts.planned(topology, lab)
    deployment = fabric.Deployment.deploy(fabric.possible(made.steps)[0], topology)
    try:
        with DataPlaneClient(deployment.run_dir / SOCKET) as client:
            configured(client, made, deployment)
        yield
    finally:
        deployment.destroy()


def everything_arrives(pair: host_traffic.Pair) -> None:
    """From the left, of that version of IP: up to the MTU whole, more in fragments, and streams."""
    largest = 1500 - (48 if ":" in pair.to_right else 28)  # headers of IP and ICMP
    for data_bytes in (16, 56, 1000, largest):
        host_traffic.ping(pair, data_bytes, fragmented=False)
    host_traffic.ping(pair, 4000, fragmented=True)
    with pytest.raises(OSError, match="Message too long"):
        host_traffic.ping(pair, largest + 2, fragmented=False)
    for data_bytes in (1, 1400, 8000):
        host_traffic.echo_datagram(pair, data_bytes)
    host_traffic.stream(pair)


def all_talk(lab: Lab, *, both_ways: bool = True) -> int:
    """Both hosts to each other, by each version of IP. How many versions there were."""
    topology = topology_of(lab)
    with forwarding(lab, topology):
        pairs = host_traffic.pairs(topology)
        for pair in pairs:
            everything_arrives(pair)
            if both_ways:
                everything_arrives(pair.turned())
    return len(pairs)


@pytest.mark.usefixtures("run_root")
def test_hosts_that_resolve_each_other_talk_through_all_functions_that_let_them() -> None:
    assert all_talk(lab_of("direct", {name: FUNCTIONS[name] for name in ALL_THAT_RESOLVE})) == 2


@pytest.mark.parametrize("technology", ["linux-bridge", pytest.param("ovs-dpdk", marks=pytest.mark.long)])
@pytest.mark.usefixtures("run_root")
def test_hosts_talk_behind_a_switch(technology: str) -> None:
    assert all_talk(lab_of(technology, {"l3fwd": FUNCTIONS["l3fwd"]}), both_ways=False) == 2


@pytest.mark.usefixtures("run_root")
def test_a_translated_host_is_reached_by_what_the_lab_forwards() -> None:
    nat = {**NAT, "options": {**NAT["options"], "forwards": FORWARDS}}
    lab = lab_of("direct", {"nat": nat}, right={"to_address": "203.0.113.1"})
    topology = topology_of(lab)
    with forwarding(lab, topology):
        (pair,) = host_traffic.pairs(topology)
        assert (pair.to_left, pair.to_right) == ("203.0.113.1", "198.19.0.1")
        everything_arrives(pair)
        host_traffic.echo_datagram(pair.turned(), 8000)
        host_traffic.stream(pair.turned())


@pytest.mark.usefixtures("run_root")
def test_a_router_translates_ipv4_and_routes_ipv6_which_reaches_both_hosts() -> None:
    tenant = {"prefix": "198.18.0.0/24", "address": "198.18.0.254"}
    tenant |= {"prefix6": "2001:2:0:1::/64", "address6": "2001:2:0:1::fe"}
    outside = {"external": "203.0.113.1/32", "address": "198.19.0.254/24", "address6": "2001:2:0:2::fe/64"}
    topology = topology_of(lab := lab_of("direct", {"router": {"router": {"tenants": [tenant], **outside}}}))
    with forwarding(lab, topology):
        translated, routed = host_traffic.pairs(topology)
        assert ":" in routed.to_right
        everything_arrives(translated)
        everything_arrives(routed)
        everything_arrives(routed.turned())


@pytest.mark.usefixtures("run_root")
def test_a_balanced_service_is_reached_by_its_own_address() -> None:
    lb = {"nf": "lb", "options": {"services": SERVICE, "ipv6": "forward"}}
    lab = lab_of("direct", {"lb": lb}, left={"to_address": "203.0.113.10"})
    topology = topology_of(lab)
    with forwarding(lab, topology):
        service, other = host_traffic.pairs(topology)
        assert service.to_right == "203.0.113.10"
        host_traffic.stream(service)
        everything_arrives(other)


@pytest.mark.usefixtures("run_root")
def test_a_hosts_interface_leaves_nothing_to_the_card() -> None:
    """Frames are as on a wire: whole checksums, and none longer than the MTU."""
    lab = lab_of("direct", {"l2fwd": FUNCTIONS["l2fwd"]})
    topology = topology_of(lab)
    deployment = fabric.Deployment.deploy(steps_of_hosts(lab, topology), topology)
    try:
        for host in topology.end_hosts:
            with namespace.inside(str(topology.port(host.port).netns)), Ethtool() as ethtool:
                features = ethtool.get_features("eth0").features.values()
                assert [one.name for one in features if one.available] != []
                on = {one.name for one in features if one.enable and one.available}
            assert not {name for name in on if "checksum" in name or "segmentation" in name or "gro" in name}
    finally:
        deployment.destroy()


@pytest.mark.slow
@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.usefixtures("run_root")
def test_hosts_talk_through_each_function_under_each_technology(function: str, technology: str) -> None:
    all_talk(lab_of(technology, {function: FUNCTIONS[function]}), both_ways=function not in TRANSLATING)


@pytest.mark.parametrize("state", ["doing", "done", "recorded"])
@pytest.mark.parametrize(
    "technology", ["direct", *(pytest.param(one, marks=pytest.mark.slow) for one in TECHNOLOGIES[1:])]
)
def test_killed_while_it_makes_a_host_weir_leaves_nothing_that_destroy_does_not_remove(
    technology: str, state: str, run_root: Path
) -> None:
    lab = lab_of(technology, {"l2fwd": FUNCTIONS["l2fwd"]})
    topology = topology_of(lab)
    surroundings = Surroundings(run_root, lab.name, topology.deployment.rsplit("-", 1)[1])

    def at_a_host(event: fabric.Event) -> None:
        if (event.step.name, event.state) == ("end-host:right", state):
            kill()

    try:
        deploy = partial(fabric.Deployment.deploy, steps_of_hosts(lab, topology), topology, at_a_host)
        assert not survived(deploy)
        (left,) = fabric.deployments()
        left.destroy()
        surroundings.check(state)
    finally:
        surroundings.remove()


def test_destroy_ends_the_commands_that_run_in_hosts(run_root: Path) -> None:
    lab = lab_of("direct", {"l2fwd": FUNCTIONS["l2fwd"]})
    topology = topology_of(lab)
    surroundings = Surroundings(run_root, lab.name, topology.deployment.rsplit("-", 1)[1])
    try:
        deployment = fabric.Deployment.deploy(steps_of_hosts(lab, topology), topology)
        pid = os.fork()
        if pid == 0:
            become(at_end(deployment, topology.end_hosts[0]), ["sleep", "3600"])
        left, right = (str(topology.port(host.port).netns) for host in topology.end_hosts)
        while not markers.inside(left):
            time.sleep(0.01)
        assert (markers.inside(left), markers.inside(right)) == ([pid], [])
        deployment.destroy()
        surroundings.check("destroyed")
    finally:
        surroundings.remove()
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) in (9, 15)


ADDRESSES: dict[str, Any] = {
    "inbound_addresses": "198.18.0.254/24, 2001:2:0:1::fe/64",
    "addresses": "198.19.0.254/24, 2001:2:0:2::fe/64",
}
MTU_BYTES = 1400


@pytest.mark.slow
@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.parametrize(
    "way",
    [
        {},
        {"fastpath": True},
        {"architecture": "pipeline"},
        {"architecture": "separated"},
        {"architecture": "dispatch", "workers": 1},
    ],
    ids=["run-to-completion", "fast path", "pipeline", "separated", "dispatch"],
)
@pytest.mark.usefixtures("run_root")
def test_hosts_resolve_the_router_and_hear_from_it(technology: str, way: dict[str, Any]) -> None:
    """Nobody is given a MAC address: ARP and Neighbor Discovery find all."""
    router = {"nf": "l3fwd", "options": {**ADDRESSES, "mtu_bytes": MTU_BYTES}, **way}
    lab = lab_of(technology, {"router": router})
    topology = topology_of(lab)
    assert not any(host.neighbours for host in topology.end_hosts)
    with forwarding(lab, topology):
        for pair, own in zip(host_traffic.pairs(topology), ("198.18.0.254", "2001:2:0:1::fe"), strict=True):
            host_traffic.ping(pair, 1000, fragmented=False)
            host_traffic.stream(pair.turned())
            host_traffic.ping(replace(pair, to_right=own), 56, fragmented=False)
            assert host_traffic.first_hop(pair) == own
            with pytest.raises(OSError, match="Message too long"):
                host_traffic.ping_until_too_long(pair, MTU_BYTES - 27)
            assert host_traffic.path_mtu_bytes(pair) == MTU_BYTES
            host_traffic.stream(pair)
            assert host_traffic.is_unreachable(replace(pair, to_right=_beside(pair.to_right)))


def _beside(address: str) -> str:
    """Another one of its network, which nobody has."""
    return str(ipaddress.ip_address(address) + 98)


BEHIND = ("192.0.2.9", "2001:db8::9")


def has_too(netns: str, address: str) -> None:
    """Of that host from now on: Linux gives one of IPv6 its route a little later."""
    with namespace.inside(netns), IPRoute() as route:
        (loopback,) = route.link_lookup(ifname="lo")
        route.addr("add", index=loopback, address=address)
        until = time.monotonic() + host_traffic.PATIENCE_S
        while route.route("get", dst=address)[0]["type"] != rt_type["local"]:
            assert time.monotonic() < until, f"{address} is not reached in {netns}"
            time.sleep(0.01)


@pytest.mark.parametrize("kind", ["process", "kernel"])
@pytest.mark.usefixtures("run_root")
def test_what_a_router_or_linux_in_its_place_routes_by_a_host_arrives_there(kind: str) -> None:
    routes = "0.0.0.0/0 via 198.19.0.1, ::/0 via 2001:2:0:2::1"
    router = {"kind": kind, "nf": "l3fwd", "options": {**ADDRESSES, "route_list": routes}}
    topology = topology_of(lab := lab_of("linux-bridge", {"router": router}))
    with forwarding(lab, topology):
        for pair, address in zip(host_traffic.pairs(topology), BEHIND, strict=True):
            has_too(pair.right, address)
            host_traffic.ping(replace(pair, to_right=address), 56, fragmented=False)
