# SPDX-License-Identifier: Apache-2.0
"""The ordered steps of a deployment."""

from __future__ import annotations

from collections import Counter

import pytest

from weir import plan
from weir.plan import Step

from .test_topology import TECHNOLOGIES, lab, topology


def steps(technology: str, length: int = 1, **parts: object) -> list[Step]:
    return plan.steps(topology(technology, length, **parts), lab(**parts))


@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.parametrize("functions", [1, 2, 64])
def test_every_step_has_a_name_of_its_own_and_reads_as_one_line(technology: str, functions: int) -> None:
    planned = steps(technology, functions)
    assert len({step.name for step in planned}) == len(planned)
    for step in planned:
        assert step.text
        assert "\n" not in step.text + step.undo_text


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_the_run_directory_comes_first_and_weir_dp_last(technology: str) -> None:
    kinds = [step.kind for step in steps(technology)]
    assert kinds[:2] == ["run-directory", "hugepages"]
    assert kinds[-1] == "weir-dp"


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_nothing_is_used_before_it_is_made(technology: str) -> None:
    made: set[object] = set()
    for step in steps(technology, 3):
        params = step.params
        for key in ("netns", "peer_netns"):
            assert step.kind == "netns" or key not in params or params[key] in made
        if step.kind in ("bridge-port", "ovs-port"):
            assert ("bridge", params["bridge"]) in made
        if step.kind == "bridge-port":
            assert ("interface", params["interface"]) in made
        if step.kind == "ovs-port" and params["type"] == "system":
            assert ("interface", params["port"]) in made
        if step.kind == "ovs-bridge":
            assert "ovs-vswitchd" in made
        if step.kind == "ovs-vswitchd":
            assert "ovsdb-server" in made
        made.update(
            {
                step.kind,
                params.get("netns") if step.kind == "netns" else None,
                ("bridge", params.get("bridge")) if step.kind in ("bridge", "ovs-bridge") else None,
                ("interface", params.get("peer_interface")) if step.kind == "veth" else None,
            }
        )


@pytest.mark.parametrize("technology", ["linux-bridge", "ovs", "ovs-dpdk"])
def test_every_network_is_a_bridge_with_exactly_two_ports(technology: str) -> None:
    planned = steps(technology, 3)
    bridges = [step.params["bridge"] for step in planned if step.kind in ("bridge", "ovs-bridge")]
    ports = Counter(step.params["bridge"] for step in planned if step.kind in ("bridge-port", "ovs-port"))
    assert bridges == ["net0", "net1", "net2", "net3"]
    assert all(ports[bridge] == 2 for bridge in bridges)


def test_direct_needs_nothing_but_weir_dp() -> None:
    assert [step.kind for step in steps("direct", 5)] == ["run-directory", "hugepages", "weir-dp"]


def test_kernel_links_are_made_inside_the_labs_own_namespaces() -> None:
    for step in steps("linux-bridge", 2):
        if step.kind == "veth":
            assert str(step.params["netns"]).startswith("weir-1a2b3c4d-")
            assert step.params["peer_netns"] == "weir-1a2b3c4d-sw"


@pytest.mark.parametrize(("wanted", "value"), [(False, "0"), (True, "1")])
def test_netfilter_is_set_for_the_bridges_of_the_lab_alone(wanted: bool, value: str) -> None:
    planned = steps("linux-bridge", technologies={"linux-bridge": {"netfilter": wanted}})
    names = [step.name for step in planned]
    (step,) = [one for one in planned if one.name.startswith("netfilter:")]
    assert step.params["netns"] == "weir-1a2b3c4d-sw"
    assert step.params["settings"] == [
        f"net.bridge.bridge-nf-call-{tables}={value}" for tables in ("iptables", "ip6tables", "arptables")
    ]
    assert names.index(step.name) < names.index("bridge:net0")
    assert not [one for one in steps("ovs") if one.name.startswith("netfilter:")]


def test_hugepages_are_asked_for_weir_dp_and_the_switch_together() -> None:
    planned = {step.kind: step.params for step in steps("ovs-dpdk")}
    total_mb, own_mb = planned["hugepages"]["memory_mb"], planned["weir-dp"]["memory_mb"]
    assert isinstance(total_mb, int)
    assert isinstance(own_mb, int)
    assert total_mb == own_mb + 512


def test_pmd_cores_and_lcores_of_the_lab_reach_the_switch() -> None:
    chosen = {"ovs-dpdk": {"pmd_cores": [2, 3], "lcores": [4]}}
    vswitchd = next(step for step in steps("ovs-dpdk", technologies=chosen) if step.kind == "ovs-vswitchd")
    assert vswitchd.params["pmd_cores"] == [2, 3]
    assert vswitchd.params["lcores"] == [4]


@pytest.mark.parametrize(
    ("asked", "datapath"), [("auto", "auto"), ("kernel", "kernel"), ("userspace", "netdev")]
)
def test_the_datapath_of_ovs_is_the_labs_choice(asked: str, datapath: str) -> None:
    planned = steps("ovs", technologies={"ovs": {"datapath": asked}})
    assert {step.params["datapath"] for step in planned if step.kind == "ovs-bridge"} == {datapath}


def test_each_port_has_a_virtual_function_and_each_link_its_vlan() -> None:
    functions = [step.params for step in steps("sr-iov", 2) if step.kind == "sriov-vf"]
    assert [params["vf"] for params in functions] == [0, 1, 2, 3, 4, 5]
    assert [params["vlan"] for params in functions] == [100, 100, 101, 101, 102, 102]


def test_cabled_tester_ports_need_no_virtual_function_and_no_vlan() -> None:
    planned = steps("sr-iov", tester={"ports": ["0000:03:00.0", "0000:03:00.1"]})
    functions = [step.params for step in planned if step.kind == "sriov-vf"]
    assert [(params["port"], params["vlan"]) for params in functions] == [("f1.left", 0), ("f1.right", 0)]


@pytest.mark.parametrize(
    ("technology", "veths"), [("direct", 0), ("ovs-dpdk", 0), ("linux-bridge", 1), ("ovs", 1)]
)
def test_the_loopback_has_no_switch(technology: str, veths: int) -> None:
    looped = plan.loopback(topology(technology), "small-99999999")
    kinds = Counter(step.kind for step in plan.steps(looped, lab()))
    assert kinds["veth"] == veths
    assert not {"bridge", "ovs-bridge", "ovsdb-server", "ovs-vswitchd"} & set(kinds)
