# SPDX-License-Identifier: Apache-2.0
"""Programs with ports at sockets: what is at each end, in which order it comes up, and what the program is
told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.lab import Lab
from weir.plan import Plan, Step
from weir.plan.end_hosts import NoHostsError, with_hosts

TOKEN = "0badcafe"
DEPLOYMENT = plan.deployment_id("own", TOKEN)
RUN = "/run/weir/own-0badcafe"


def lab(technology: str, ports: str, *, nf: str | None = None, **program: object) -> Lab:
    own = {"nf": nf, "options": {"mode": "mac-swap"}} if nf is not None else {}
    text = {
        "weir": 1,
        "name": "own",
        "chain": [["mine", "plain"]],
        "technology": technology,
        "functions": {
            "mine": {"kind": "program", **own, "program": {"command": "nf {eal}", "ports": ports, **program}},
            "plain": {"nf": "l2fwd"},
        },
    }
    return Lab.model_validate_json(json.dumps(text))


def planned(its: Lab) -> tuple[Topology, list[Step]]:
    topology = plan.build_topology(its, its.technology[0], its.chains()[0], DEPLOYMENT)
    return topology, plan.steps(topology, its)


def program(steps: list[Step]) -> dict[str, Any]:
    (found,) = [step.params for step in steps if step.kind == "program"]
    return dict(found)


def devices(its: Lab) -> dict[str, str]:
    topology, _ = planned(its)
    return {port.name: port.devargs or "" for port in Plan.of(topology, its).opened(RUN).ports}


LEFT, RIGHT = "f1.run/left.sock", "f1.run/right.sock"
VHOST = f"net_vhost0,iface={RUN}/{LEFT},queues=1,client=1"


@pytest.mark.parametrize(
    ("ports", "peer", "tells"),
    [
        (
            "virtio-user",
            f"net_vhost0,iface={RUN}/{LEFT},queues=1,client=1",
            "net_virtio_user0,path={},server=1",
        ),
        ("any", f"net_vhost0,iface={RUN}/{LEFT},queues=1,client=1", "net_virtio_user0,path={},server=1"),
        ("vhost-user", f"net_virtio_user0,path={RUN}/{LEFT},queues=1", "net_vhost0,iface={},queues=1"),
        (
            "memif",
            f"net_memif0,role=client,id=0,socket={RUN}/{LEFT},",
            "net_memif0,role=server,id=0,socket={}",
        ),
    ],
)
def test_on_a_wire_weir_dp_is_at_the_other_end_of_the_socket_that_the_program_makes(
    ports: str, peer: str, tells: str
) -> None:
    its = lab("direct", ports)
    _, steps = planned(its)
    opened = devices(its)
    assert {"f1.left", "f1.right"}.isdisjoint(opened)
    assert opened["tester.left"].startswith(peer)
    assert "server=1" not in opened["tester.left"]
    assert f"{RUN}/{RIGHT}" in opened["f2.left"]
    # Beyond the program's own wires nothing changes.
    assert opened["tester.right"] == f"net_vhost2,iface={RUN}/wire2.sock,queues=1"
    its_own = program(steps)
    assert its_own["vdevs"][0].startswith(tells)
    assert its_own["sockets"] == [LEFT, RIGHT]
    assert its_own["waits_for_peer"] is (ports in ("virtio-user", "any"))


def test_behind_a_switch_that_connects_to_its_sockets_it_is_there_before_weir_dp() -> None:
    its = lab("ovs-dpdk", "virtio-user")
    topology, steps = planned(its)
    sockets = {step.params["port"]: step.params["socket"] for step in steps if step.kind == "ovs-port"}
    assert (sockets["f1.left"], sockets["tester.left"]) == (LEFT, "tester.left.sock")
    assert program(steps)["waits_for_peer"] is False
    kinds = [step.kind for step in steps]
    assert kinds.index("ovs-port") < kinds.index("program") < kinds.index("weir-dp")
    assert f"mac={topology.port('f1.left').mac}" in str(program(steps)["vdevs"])


def test_it_has_a_namespace_of_its_own_without_interfaces_in_which_it_ends() -> None:
    _, steps = planned(lab("direct", "virtio-user"))
    made = [step.params["netns"] for step in steps if step.kind == "netns"]
    assert made == [program(steps)["netns"]] == [f"weir-{TOKEN}-f1"]
    assert not [step for step in steps if step.kind in ("veth", "function-port")]


@pytest.mark.parametrize("technology", ["linux-bridge", "ovs"])
def test_where_interfaces_are_joined_its_ports_are_of_dpdk_on_top_of_them(technology: str) -> None:
    _, steps = planned(lab(technology, "any"))
    assert program(steps)["vdevs"] == ["net_af_packet0,iface=left", "net_af_packet1,iface=right"]
    assert program(steps)["sockets"] == ["", ""]


def test_hugepages_are_asked_for_its_memory_too() -> None:
    def asked(its: Lab) -> int:
        _, steps = planned(its)
        (found,) = [step.params["memory_mb"] for step in steps if step.kind == "hugepages"]
        return int(str(found))

    own = asked(lab("direct", "virtio-user", memory_mb=1024)) - asked(
        lab("direct", "virtio-user", command="nf")
    )
    assert own == 1024
    _, steps = planned(lab("direct", "virtio-user", memory_mb=1024))
    (weir_dp,) = [step.params["memory_mb"] for step in steps if step.kind == "weir-dp"]
    assert program(steps)["later_memory_mb"] == weir_dp


def test_hugepages_are_asked_for_what_a_counterpart_takes_of_them_by_itself() -> None:
    text = {
        "weir": 1,
        "name": "own",
        "chain": [["router"]],
        "technology": "linux-bridge",
        "functions": {
            "router": {"kind": "program", "nf": "l3fwd", "program": {"counterpart": "vpp", "user": "root"}}
        },
    }
    _, steps = planned(Lab.model_validate_json(json.dumps(text)))
    (found,) = [int(str(step.params["memory_mb"])) for step in steps if step.kind == "hugepages"]
    (weir_dp,) = [int(str(step.params["memory_mb"])) for step in steps if step.kind == "weir-dp"]
    assert (found - weir_dp, program(steps)["memory_mb"]) == (48, 48)


@pytest.mark.parametrize("ports", ["virtio-user", "vhost-user", "memif"])
def test_the_tester_alone_is_measured_by_virtio_and_vhost(ports: str) -> None:
    its = lab("direct", ports)
    topology, _ = planned(its)
    alone = plan.loopback(topology, plan.deployment_id("own", "0badcaff"))
    assert [(port.kind, port.socket) for port in alone.ports] == [
        ("virtio-user", "wire0.sock"),
        ("vhost", "wire0.sock"),
    ]
    opened = {port.name: port.devargs or "" for port in Plan.of(alone, its).opened(RUN).ports}
    assert opened["tester.right"] == f"net_vhost0,iface={RUN}/wire0.sock,queues=1"


def test_a_counterpart_is_made_of_the_functions_options_when_it_starts() -> None:
    _, steps = planned(lab("direct", "any", nf="l2fwd", command=None, counterpart="testpmd"))
    its_own = program(steps)
    assert (its_own["counterpart"], its_own["command"]) == ("testpmd", ["dpdk-testpmd"])
    assert json.loads(its_own["does"]) == {"nf": "l2fwd", "options": {"mode": "mac-swap"}}
    assert any(value.startswith("left.gateway_mac=02:57:") for value in its_own["values"])


def test_hosts_at_the_ends_are_refused_by_its_kind() -> None:
    its = lab("direct", "virtio-user")
    topology, _ = planned(its)
    with pytest.raises(NoHostsError, match="f1 is of kind program"):
        with_hosts(topology, its)
