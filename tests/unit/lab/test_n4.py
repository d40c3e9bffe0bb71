# SPDX-License-Identifier: Apache-2.0
"""Functions that an SMF controls by N4: what a lab may say, and what weir-dp is asked to open."""

from __future__ import annotations

import pytest

from weir import plan

from .lab_text import GOOD, load, problem, problems

OPTIONS = "{sessions: 5, sessions_max: 15, n4_address: 127.0.0.5}"
UPF = f"nf: upf, options: {OPTIONS}"


def function(text: str) -> str:
    return GOOD + f"functions:\n  default: {{{text}}}\n"


@pytest.mark.parametrize(
    "text",
    [
        UPF,
        f"{UPF}, n4: {{sessions: 10, time_limit_s: 5}}",
        f"{UPF}, n4: {{netns: core}}, architecture: dispatch",
        f"chain: [{{{UPF}}}, {{nf: l3fwd}}], n4: {{sessions: 1}}",
    ],
)
def test_a_upf_may_be_controlled_by_n4(text: str) -> None:
    assert not problems(function(text))


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("nf: upf, n4: {sessions: 1}", "functions.default.n4", "n4_address"),
        ("nf: l3fwd, n4: {}", "functions.default.n4", "n4_address"),
        (f"{UPF}, n4: {{sessions: 11}}", "functions.default.n4.sessions", "sessions_max"),
        (f"{UPF}, n4: {{netns: ../x}}", "functions.default.n4.netns", ""),
        (f"{UPF}, kind: vm", "functions.default.options.n4_address", "kind: process"),
        (
            f"chain: [{{nf: l3fwd}}, {{{UPF}}}], kind: vm",
            "functions.default.chain[1].options.n4_address",
            "kind: process",
        ),
        (
            f"chain: [{{{UPF}}}, {{{UPF}}}]",
            "functions.default.chain[1].options.n4_address",
            "another address",
        ),
    ],
)
def test_what_nobody_could_open_or_would_wait_for_in_vain_is_refused(
    text: str, key: str, expected: str
) -> None:
    text = function(text).replace("[direct, linux-bridge, ovs-dpdk]", "linux-bridge")
    found = problem(text)
    assert found.key == key
    assert expected in str(found)


def test_two_functions_of_one_chain_listen_at_two_addresses() -> None:
    both = GOOD.replace("chain: PVP", "chain: [[one, two]]") + (
        f"functions:\n  one: {{{UPF}}}\n  two: {{{UPF}, n4: {{NETNS}}}}\n"
    )
    assert "where one of chain one-two listens too" in str(problem(both.replace("NETNS", "")))
    assert not problems(both.replace("NETNS", "netns: core"))


@pytest.mark.parametrize(
    ("way", "area", "stage"),
    [
        ("", "f1", "upf"),
        (", architecture: pipeline", "f1.upf", "upf"),
        (", architecture: dispatch, workers: 3", "f1.dispatcher", "upf"),
    ],
)
def test_the_stage_that_listens_is_asked_for_where_it_is(way: str, area: str, stage: str) -> None:
    lab = load(function(f"chain: [{{nf: l3fwd}}, {{{UPF}}}], n4: {{netns: core, sessions: 3}}{way}"))
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    (found,) = plan.Plan.of(topology, lab).listening
    assert (found.function, found.area, found.stage) == ("default", area, stage)
    assert (found.netns, found.options.sessions) == ("/run/netns/core", 3)
    assert found.where == "127.0.0.5 port 8805 in network namespace core"


def test_without_an_address_nobody_listens() -> None:
    lab = load(function("nf: upf"))
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    assert plan.Plan.of(topology, lab).listening == ()
