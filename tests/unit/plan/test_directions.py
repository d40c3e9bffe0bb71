# SPDX-License-Identifier: Apache-2.0
"""What a path of an area says of its direction, of what others rewrite for it, and of few flows."""

from __future__ import annotations

from typing import Any

from weir.lab import Lab
from weir.lab.execution import Execution
from weir.plan.memory import memory_mb
from weir.plan.topology import build_topology
from weir.planning.calibration.set_up import setup

LB = {"nf": "lb", "options": {"services": "198.19.0.1:1024/udp 198.19.1.1:1024"}}
ACL = {"nf": "acl", "options": {"default": "permit"}}
L3FWD = {"nf": "l3fwd"}


def lab(*nfs: Any, flows: int = 1000, direction: str = "bidirectional", **function: Any) -> Lab:
    return Lab.model_validate(
        {
            "weir": 1,
            "name": "ways",
            "chain": [["f"]],
            "technology": "direct",
            "functions": {"f": {"chain": list(nfs), **function}},
            "cores": {"tester": [0], "functions": [0]},
            "tester": {"direction": direction},
            "traffic": {"flows": {"count": flows}},
        }
    )


def of(one: Lab) -> Execution:
    return setup(one, one.chains()[0], "64", "one").execution


def test_functions_see_packets_on_both_ways_and_a_balancer_remembers_those_of_one() -> None:
    (area,) = (area for area in of(lab(LB)).areas if area.kind == "chain")
    out, back = (path.stages[0] for path in area.paths)
    assert (out.inbound, back.inbound) == (False, True)
    assert out.state_bytes > back.state_bytes == 0


def test_an_applier_makes_the_changes_of_functions_that_change_something() -> None:
    one = lab(ACL, LB, L3FWD, architecture="separated", workers=1, state_cores=1)
    found = [path.rewriting for area in of(one).areas if area.kind == "rewrite_worker" for path in area.paths]
    assert found
    assert set(found) <= {("lb", "l3fwd"), ("l3fwd",), ("lb", "l3fwd", "lb")}
    plain = lab(ACL, architecture="separated", workers=1, state_cores=1)
    assert {path.rewriting for area in of(plain).areas for path in area.paths} == {()}


def test_a_fast_path_makes_them_too_and_nobody_does_without_one() -> None:
    quick, slow = (of(lab(ACL, L3FWD, direction="left-to-right", fastpath=one)) for one in (True, False))
    assert {path.rewriting for area in quick.areas for path in area.paths if path.stages} == {("l3fwd",)}
    assert {path.rewriting for area in slow.areas for path in area.paths if path.stages} == {()}


def test_one_flow_meets_one_worker_and_many_meet_all() -> None:
    def shares(flows: int) -> list[float]:
        one = lab(ACL, flows=flows, direction="left-to-right", architecture="dispatch", workers=4)
        return [area.share() for area in of(one).areas if ".worker" in area.name]

    assert shares(1) == [1.0, 0.0, 0.0, 0.0]
    assert shares(1000) == [0.25] * 4


def test_larger_tables_get_the_memory_that_they_take() -> None:
    def needed_mb(**options: int) -> int:
        nat = {"nf": "nat", "options": {"external": "192.0.2.0/24", **options}}
        one = lab(nat, direction="left-to-right")
        return memory_mb(build_topology(one, "direct", one.chains()[0], "ways-00000000"), one)

    more_mb = needed_mb(sessions=1_000_000) - needed_mb()
    assert 130 < more_mb < 300
