# SPDX-License-Identifier: Apache-2.0
"""Functions in network namespaces: their ports, steps, addresses, and what weir-dp is told of them."""

from __future__ import annotations

import ipaddress
import json

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.lab import Lab
from weir.lab.lab import MAX_FUNCTIONS
from weir.plan import PlanError, Step
from weir.plan.function_addresses import prefixes
from weir.plan.switch_areas import require_modelled

TOKEN = "0badcafe"


def lab(technology: str = "linux-bridge", *, traffic: object = None, **kernel: object) -> Lab:
    text = {
        "weir": 1,
        "name": "own",
        "chain": [["router", "plain", "router"]],
        "technology": technology,
        "functions": {"router": {"kind": "kernel", "kernel": kernel}, "plain": {"nf": "l2fwd"}},
        "traffic": traffic or {},
    }
    return Lab.model_validate_json(json.dumps(text))


def planned(its: Lab) -> tuple[Topology, list[Step]]:
    topology = plan.build_topology(its, its.technology[0], its.chains()[0], plan.deployment_id("own", TOKEN))
    return topology, plan.steps(topology, its)


@pytest.mark.parametrize("technology", ["linux-bridge", "ovs"])
def test_weir_dp_opens_no_port_of_it_and_runs_no_area_of_it(technology: str) -> None:
    its = lab(technology)
    topology, steps = planned(its)
    kinds = {port.name: port.kind == "veth" for port in topology.ports}
    assert [name for name, own in kinds.items() if own] == ["f1.left", "f1.right", "f3.left", "f3.right"]
    config = plan.configure(topology, its)
    assert {port.name for port in config.ports} == {name for name, own in kinds.items() if not own}
    assert {area.name for area in config.areas if not area.name.startswith(("gen", "rec"))} == {"f2"}
    assert [one.name for one in topology.processed()] == ["f2"]
    assert steps[-1].kind == "weir-dp"


def test_its_interfaces_have_the_addresses_that_frames_are_sent_to() -> None:
    topology, steps = planned(lab())
    ports = {step.name: step.params for step in steps if step.kind == "function-port"}
    assert ports["function-port:f1.left"]["mac"] == topology.port("f1.left").mac
    assert ports["function-port:f1.left"]["addresses"] == ["169.254.1.2/30", "fd57:6569:72::2/64"]
    assert ports["function-port:f3.left"]["addresses"] == ["169.254.3.2/30", "fd57:6569:72:2::2/64"]
    (routes, _) = [step.params for step in steps if step.kind == "static-routes"]
    assert f"169.254.1.1 lladdr {topology.port('tester.left').mac} dev left" in _texts(routes["neighbours"])
    assert f"169.254.2.2 lladdr {topology.port('f2.left').mac} dev right" in _texts(routes["neighbours"])
    assert "198.19.0.0/23 via 169.254.2.2 dev right" in _texts(routes["routes"])


def test_no_link_has_an_address_that_rfc_3927_reserves() -> None:
    its = lab().model_copy(update={"chain": (("router",) * MAX_FUNCTIONS,)})
    _, steps = planned(its)
    own = [_texts(step.params["addresses"])[0] for step in steps if step.kind == "function-port"]
    assert len(own) == 2 * MAX_FUNCTIONS
    networks = {ipaddress.ip_interface(one).network for one in own}
    assert len(networks) == MAX_FUNCTIONS + 1
    reserved = [ipaddress.ip_network(one) for one in ("169.254.0.0/24", "169.254.255.0/24")]
    assert not [one for one in networks for other in reserved if one.overlaps(other)]


def _texts(values: object) -> list[str]:
    assert isinstance(values, list)
    return [str(one) for one in values]


def test_names_in_commands_are_filled_in_word_by_word() -> None:
    commands = [
        "ip route add 203.0.113.0/24 via {right.gateway} dev {right.name}",
        ["echo", "{left.tester} x"],
    ]
    _, steps = planned(lab(commands=commands, directory="/rules", commands_time_limit_s=2))
    params = next(step.params for step in steps if step.name == "commands:f3")
    assert params["commands"] == [
        "ip route add 203.0.113.0/24 via 169.254.4.2 dev right",
        "echo '198.18.0.1 x'",
    ]
    assert (params["function"], params["directory"], params["time_limit_ms"]) == ("router", "/rules", 2000)


def test_without_addressing_only_the_interfaces_are_made() -> None:
    _, steps = planned(lab(addressing="none", rps=False))
    ours = [step for step in steps if step.name.partition(":")[2].startswith("f1")]
    assert [step.kind for step in ours if step.kind not in ("veth", "bridge-port")] == ["function-port"] * 2
    assert all(
        step.params["addresses"] == [] == step.params["cores"] for step in ours if "cores" in step.params
    )


@pytest.mark.parametrize("flows", [1, 2, 100, 40_000])
@pytest.mark.parametrize("vary", [["src_ip", "dst_ip"], ["src_ip"], ["dst_ip"], ["src_port"]])
def test_the_routes_cover_what_is_sent_to_each_end(flows: int, vary: list[str]) -> None:
    if vary != ["src_ip", "dst_ip"]:
        flows = min(flows, 32_768)
    traffic = lab(traffic={"flows": {"count": flows, "vary": vary}}).traffic
    radix = 32_768  # as native/traffic/flows.c counts
    for version in (4, 6):
        left, right = prefixes(traffic, version)
        first_left, first_right = map(ipaddress.ip_address, _firsts(version))
        for number in {0, 1, flows // 2, flows - 1} - {1 if flows == 1 else -1}:
            digits = iter([number % radix, (number * 3 + number // radix) % radix])
            there = next(digits) if "src_ip" in vary else 0
            back = next(digits) if "dst_ip" in vary else 0
            assert any(first_left + there in prefix for prefix in left)
            assert any(first_right + back in prefix for prefix in right)


def _firsts(version: int) -> tuple[str, str]:
    return ("198.18.0.1", "198.19.0.1") if version == 4 else ("2001:2:0:1::1", "2001:2:0:2::1")


def test_ends_that_lie_near_each_other_are_told_apart_and_those_that_share_addresses_are_refused() -> None:
    near = {"left": {"address": "10.0.0.1"}, "right": {"address": "10.0.0.128"}, "flows": {"count": 20}}
    left, right = prefixes(lab(traffic=near).traffic, 4)
    assert not any(one.overlaps(other) for one in left for other in right)
    shared = near | {"flows": {"count": 200}}
    with pytest.raises(PlanError, match=r"addresses from 10\.0\.0\.1 to 10\.0\.0\.200 are at the left"):
        planned(lab(traffic=shared))


def test_the_cost_model_refuses_it() -> None:
    topology, _ = planned(lab())
    with pytest.raises(PlanError, match="what Linux does as f1"):
        require_modelled(topology)
