# SPDX-License-Identifier: Apache-2.0
"""When what runs back answers the addresses that arrive."""

from __future__ import annotations

from typing import Any

import pytest

from weir import plan
from weir.lab import Lab

BALANCER = {"nf": "lb", "options": {"services": "198.19.0.1:1024/udp 10.0.0.1:5000"}}
NAT = {"nf": "nat", "options": {"external": "203.0.113.0/24"}}


def answered(
    function: Any, direction: str = "bidirectional", technology: str = "direct", **traffic: Any
) -> list[int | None]:
    """Of each stream, whom it answers."""
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "answers",
            "chain": [["f"]],
            "technology": technology,
            "functions": {"f": function},
            "cores": {"tester": [0], "functions": [0]},
            "tester": {"direction": direction},
            "traffic": {"frames": ["128"], **traffic},
        }
    )
    topology = plan.build_topology(lab, technology, lab.chains()[0], "answers-00000000")
    return [stream.answers for stream in plan.Plan.of(topology, lab).streams["128"].streams]


@pytest.mark.parametrize(
    "function",
    [
        NAT,
        {"chain": [{"nf": "l3fwd"}, NAT]},
        BALANCER,
        {"kind": "kernel", **NAT},
        {"kind": "kernel", **BALANCER},
        {"kind": "kernel", "kernel": {"commands": ["nft -f rules.nft"]}},
        {"kind": "program", "program": {"command": ["forward"]}},
        {"kind": "vm", "vm": {"image": "vyos.qcow2"}},
    ],
)
def test_what_runs_back_through_what_may_translate_answers_what_runs_there(function: Any) -> None:
    assert answered(function, technology="linux-bridge") == [None, 0]


@pytest.mark.parametrize("function", [{"nf": "l3fwd"}, {"nf": "firewall", "options": {"default": "permit"}}])
def test_through_others_it_goes_to_the_other_end(function: Any) -> None:
    assert answered(function) == [None, None]


def test_one_way_alone_answers_nobody() -> None:
    assert answered(NAT, "left-to-right") == [None]


@pytest.mark.parametrize(
    "traffic",
    [
        {"right": {"to_address": "203.0.113.1"}},
        {"right": {"to_port": 5000}},
        {"fields": {"src_port": {"first": 1024, "last": 2047}}},
        {"ip": 6},
    ],
)
def test_whom_the_lab_names_or_whom_no_flow_tells_is_not_learned(traffic: Any) -> None:
    assert answered(NAT, **traffic) == [None, None]


def test_fields_that_are_no_addresses_or_ports_hinder_nothing() -> None:
    assert answered(NAT, fields={"dscp": {"values": [0, 46]}}) == [None, 0]
