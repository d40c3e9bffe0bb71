# SPDX-License-Identifier: Apache-2.0
"""The areas of one function in each execution architecture."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from weir import plan
from weir.base.node import Node
from weir.lab.function import ARCHITECTURES
from weir.plan.architecture import lab_keys, ring_count

from .test_topology import DEPLOYMENT, lab, topology

CHAIN = [{"nf": "nat", "options": {"external": "203.0.113.0/24"}}, {"nf": "l3fwd"}]
RING_NAME_BYTES = 29  # RTE_RING_NAMESIZE


def made(
    architecture: str, *, functions: list[int] | None = None, **more: object
) -> tuple[Node, dict[str, Any]]:
    """The only function of a PVP chain, and what weir-dp is told."""
    parts: dict[str, Any] = {
        "functions": {"default": {"chain": CHAIN, "architecture": architecture} | more},
        "cores": {"tester": [0], "functions": functions or [1], "switch": [0]},
    }
    built = topology("direct", **parts)
    return built.functions()[0], plan.configure(built, lab(**parts)).arguments()


def function_areas(config: dict[str, Any]) -> list[dict[str, Any]]:
    return [area for area in config["areas"] if area["kind"] not in ("generator", "receiver")]


def names(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(("workers", "state_cores"), [(1, 1), (3, 1), (3, 2)])
def test_every_ring_and_every_port_has_one_area_at_each_end(
    architecture: str, workers: int, state_cores: int
) -> None:
    numbers = {
        "dispatch": {"workers": workers},
        "separated": {"workers": workers, "state_cores": state_cores},
    }
    node, config = made(architecture, functions=[1, 2, 3], **numbers.get(architecture, {}))
    filled: Counter[str] = Counter()
    emptied: Counter[str] = Counter()
    for area in function_areas(config):
        filled.update({name for path in area["paths"] for name in names(path["out"])})
        emptied.update({name for path in area["paths"] for name in names(path["in"])})
    rings = [ring["name"] for ring in config["rings"]]
    assert filled == emptied == Counter([*rings, "f1.left", "f1.right"])
    assert len(rings) == ring_count(node)
    assert all(len(name) < RING_NAME_BYTES for name in rings)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_direction_meets_the_same_functions_in_reverse_order(architecture: str) -> None:
    stages: dict[str, list[str]] = {"outbound": [], "inbound": []}
    for area in function_areas(made(architecture)[1])[: 3 if architecture != "dispatch" else 2]:
        for path in area["paths"]:
            stages.get(path.get("direction", ""), []).extend(
                stage["name"] for stage in path.get("stages", ())
            )
    assert sorted(stages["outbound"]) == sorted(stages["inbound"]) == ["l3fwd", "nat"]
    if architecture != "pipeline":
        assert stages["inbound"] == stages["outbound"][::-1] == ["l3fwd", "nat"]


def test_options_are_given_once_and_next_hops_for_both_directions() -> None:
    _, config = made("run-to-completion")
    (area,) = function_areas(config)
    right, left = area["paths"]
    assert all("options" not in stage for stage in left["stages"])
    options = right["stages"][-1]["options"]
    assert set(options) == {"src_mac", "dst_mac", "inbound_src_mac", "inbound_dst_mac"}
    assert len(set(options.values())) == 4


@pytest.mark.parametrize("architecture", ["run-to-completion", "pipeline", "dispatch"])
def test_a_function_that_answers_where_it_is_asked_has_one_state_for_both_directions(
    architecture: str,
) -> None:
    _, config = made(architecture, chain=[{"nf": "upf", "options": {"sessions": 7}}])
    stages = [
        stage for area in function_areas(config) for path in area["paths"] for stage in path.get("stages", ())
    ]
    assert {(stage["nf"], stage["name"]) for stage in stages} == {("upf", "upf")}
    given = [stage for stage in stages if stage.get("options", {}).get("sessions") == 7]
    assert len(given) * 2 == len(stages)


def test_workers_know_which_they_are_and_the_dispatcher_whom_to_ask() -> None:
    _, config = made("dispatch", workers=3)
    areas = {area["name"]: area for area in function_areas(config)}
    assert areas["f1.dispatcher"]["steer"] == {"area": "f1.worker0", "stage": "nat"}
    for number in range(3):
        stage = areas[f"f1.worker{number}"]["paths"][0]["stages"][0]
        assert (stage["worker"], stage["workers"]) == (number, 3)


def test_only_owners_have_functions_when_state_is_separated() -> None:
    _, config = made("separated", workers=2)
    kinds = {
        area["kind"]: any(path.get("stages") for path in area["paths"]) for area in function_areas(config)
    }
    assert kinds == {"dispatcher": False, "state_core": True, "rewrite_worker": False, "collector": False}


def test_workers_are_spread_over_the_cores_behind_the_first() -> None:
    _, config = made("dispatch", workers=4, functions=[1, 2, 3])
    cores = {area["name"]: area["core"] for area in function_areas(config)}
    assert [cores[f"f1.worker{number}"] for number in range(4)] == [2, 3, 2, 3]
    assert cores["f1.dispatcher"] == cores["f1.collector.left"] == cores["f1.collector.right"] == 1


@pytest.mark.parametrize(("architecture", "count"), [*zip(ARCHITECTURES, (1, 2, 2, 1), strict=True)])
def test_a_fast_path_is_where_functions_are(architecture: str, count: int) -> None:
    _, config = made(architecture, fastpath=True, fastpath_flows=1000)
    assert [area.get("fastpath_flows") for area in function_areas(config)].count(1000) == count


OFFLOADED = {"nf": "l3fwd", "fastpath": True, "offload": {"kind": "xdp", "flows": 9}}


def test_an_offload_is_of_the_area_that_has_the_entries_and_the_lab_says_where() -> None:
    asked = lab(functions={"default": OFFLOADED})
    built = plan.build_topology(asked, "linux-bridge", asked.chains()[0], DEPLOYMENT)
    config = plan.configure(built, asked)
    (index,) = (at for at, area in enumerate(config.areas) if area.name == "f1")
    assert config.arguments()["areas"][index]["offload"] == {"kind": "xdp", "flows": 9, "packets": 64}
    keys = lab_keys(built, asked, config.areas)
    assert keys[f"areas[{index}].offload"] == "functions.default.offload"


def test_frames_at_an_offloaded_function_s_interfaces_are_finished_and_no_others_need_be() -> None:
    parts: dict[str, Any] = {"functions": {"default": OFFLOADED}}
    made_by = plan.steps(topology("linux-bridge", **parts), lab(**parts))
    finished = {step.name: step.params["peer_without_offloads"] for step in made_by if step.kind == "veth"}
    assert finished == {
        "veth:tester.left": False,
        "veth:f1.left": True,
        "veth:f1.right": True,
        "veth:tester.right": False,
    }


def test_a_second_function_of_a_kind_has_a_name_of_its_own() -> None:
    parts: dict[str, Any] = {"functions": {"default": {"chain": [{"nf": "l3fwd"}, {"nf": "l3fwd"}]}}}
    config = plan.configure(topology("direct", **parts), lab(**parts)).arguments()
    (area,) = function_areas(config)
    assert [stage["name"] for stage in area["paths"][0]["stages"]] == ["l3fwd", "l3fwd2"]


ROUTER = {"tenants": [{"prefix": "10.1.0.0/24"}], "external": "203.0.113.1/32", "isolate": True}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_router_sends_by_both_ports_whichever_a_packet_came_from(architecture: str) -> None:
    node, config = made(architecture, chain=[], router=ROUTER)
    areas = function_areas(config)
    by_port: dict[str, set[str]] = {"f1.left": set(), "f1.right": set()}
    for area in areas:
        for path in area["paths"]:
            for port in set(names(path["out"])) & set(by_port):
                by_port[port].add(area["name"])
    assert all(len(senders) == 1 for senders in by_port.values())
    assert len(config["rings"]) <= ring_count(node)


def test_what_comes_from_outside_is_translated_before_it_is_routed() -> None:
    _, config = made("run-to-completion", chain=[], router=ROUTER)
    ((out, back),) = (area["paths"] for area in function_areas(config))
    assert [stage["nf"] for stage in out["stages"]] == ["acl", "nat", "l3fwd"]
    assert [stage["nf"] for stage in back["stages"]] == ["nat", "l3fwd"]
    assert out["out"] == back["out"] == ["f1.right", "f1.left"]
