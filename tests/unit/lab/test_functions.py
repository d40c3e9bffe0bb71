# SPDX-License-Identifier: Apache-2.0
"""Functions of a lab, and how they are run: what is accepted, and what is refused with its place."""

from __future__ import annotations

import pytest

from weir.lab.function import FunctionOptions

from .lab_text import GOOD, problem, problems

NAT = "{nf: nat, options: {external: 203.0.113.0/24}}"


def function(text: str) -> str:
    return GOOD + f"functions:\n  default: {{{text}}}\n"


@pytest.mark.parametrize(
    "text",
    [
        f"chain: [{NAT}, {{nf: l3fwd}}]",
        f"chain: [{NAT}, {{nf: l3fwd}}], architecture: pipeline",
        f"chain: [{NAT}, {{nf: l3fwd}}], architecture: dispatch, workers: 4, fastpath: true",
        f"chain: [{NAT}, {{nf: l3fwd}}], architecture: separated, workers: 3, state_cores: 2",
        "nf: l2fwd, architecture: dispatch",
        "nf: l3fwd, fastpath: true, fastpath_flows: 1000",
        "nf: l3fwd, architecture: dispatch, workers: 2, cores: [0, 0, 0]",
    ],
)
def test_every_architecture_can_be_asked_for(text: str) -> None:
    assert not problems(function(text))


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("architecture: dispatch", "functions.default", "nf: one"),
        ("nf: l3fwd, chain: [{nf: l3fwd}]", "functions.default.chain", "one of nf, chain and router"),
        ("chain: [{nf: l3fwd}], options: {a: 1}", "functions.default.options", "within chain"),
        ("chain: [{nf: l3fwd}, {nf: natt}]", "functions.default.chain[1].nf", "nat"),
        ("chain: [{nf: l3fwd, options: {route: x}}]", "functions.default.chain[0].options.route", "routes"),
        ("nf: l3fwd, architecture: dispath", "functions.default.architecture", "dispatch"),
        ("nf: l3fwd, workers: 2", "functions.default.workers", "dispatch or separated"),
        ("nf: l3fwd, architecture: dispatch, state_cores: 2", "functions.default.state_cores", "separated"),
        ("nf: l3fwd, architecture: dispatch, workers: 9", "functions.default.workers", "8"),
        ("nf: l2fwd, architecture: separated", "functions.default.architecture", "l3fwd"),
        ("nf: l2fwd, fastpath: true", "functions.default.fastpath", "l3fwd"),
        ("nf: l3fwd, cores: [0, 0]", "functions.default.cores", "at most 1"),
        (
            f"chain: [{NAT}, {{nf: l3fwd}}], architecture: pipeline, cores: [0, 0, 0]",
            "functions.default.cores",
            "2",
        ),
        ("nf: l3fwd, cores: [7]", "functions.default.cores[0]", "cores of 0-1"),
        ("nf: l3fwd, fastpath_flows: 9", "functions.default.fastpath_flows", "fastpath: true"),
    ],
)
def test_what_cannot_be_run_so_is_refused_where_it_stands(text: str, key: str, expected: str) -> None:
    found = problem(function(text))
    assert found.key == key
    assert expected in (found.expected or "")
    assert found.line > 1


def test_state_cores_may_still_be_called_owners() -> None:
    assert FunctionOptions.model_validate({"nf": "l3fwd", "owners": 3}).state_cores == 3
    assert not problems(function(f"chain: [{NAT}, {{nf: l3fwd}}], architecture: separated, owners: 2"))


@pytest.mark.parametrize(
    ("way", "refused"),
    [
        ("architecture: dispatch", True),
        ("architecture: dispatch, workers: 1", False),
        ("architecture: separated", False),
        ("architecture: separated, state_cores: 2", True),
        ("architecture: pipeline", False),
    ],
)
def test_two_functions_that_steer_cannot_both_be_shared_out(way: str, refused: bool) -> None:
    found = problems(function(f"chain: [{NAT}, {{nf: lb, options: {{services: 10.0.0.1}}}}], {way}"))
    assert [one.key for one in found] == (["functions.default.architecture"] if refused else [])


def test_a_chain_whose_packets_do_not_come_back_is_refused() -> None:
    assert "sink" in problem(function("chain: [{nf: l3fwd}, {nf: sink}]")).message


def test_more_areas_than_weir_dp_has_room_for_are_refused() -> None:
    text = GOOD.replace("PVP", "P" + "V" * 36 + "P").replace("direct, linux-bridge, ovs-dpdk", "linux-bridge")
    many = f"functions:\n  default: {{chain: [{NAT}, {{nf: l3fwd}}], architecture: dispatch, workers: "
    assert not problems(text + many + "4}\n")
    found = problem(text + many + "5}\n")
    assert found.key == "chain"
    assert "292 areas" in found.message


@pytest.mark.parametrize(("workers", "count"), [("", 1), (", workers: 2", 1), (", workers: 1", 0)])
def test_both_ends_of_tunnels_are_not_shared_out_together(workers: str, count: int) -> None:
    """Asked on both ways, a gNB would take what is not in a tunnel yet for one."""
    found = problems(function(f"chain: [{{nf: gnb}}, {{nf: upf}}], architecture: dispatch{workers}"))
    assert [one.key for one in found] == ["functions.default.architecture"] * count
    assert all("gnb and upf each say which packets must meet" in one.message for one in found)
