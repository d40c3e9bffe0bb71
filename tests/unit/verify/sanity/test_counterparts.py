# SPDX-License-Identifier: Apache-2.0
"""Scenarios on a cloud without an API: those that have a counterpart are done by stacks, the others not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weir.lab.sut import SutFile
from weir.results.verification import CaseResult
from weir.verify.sanity.counterparts import COUNTERPARTS, REMOVE
from weir.verify.suites import SUITES

from ..made import MadeCloud, verified

ROUTERS = "NeutronNetworks.create_and_delete_routers"
INTERFACES = "NovaServers.boot_server_and_list_interfaces"


def done(cloud: MadeCloud, **keys: Any) -> dict[str, CaseResult]:
    sut = SutFile.model_validate({"weir": 1, "name": "made", "case_time_limit_s": 5.0} | keys)
    (suite,) = verified(cloud, sut, [SUITES["sanity"].of(sut)]).suites
    return {one.name: one for one in suite.cases}


def done_alone(cloud: MadeCloud, name: str, iterations: int) -> CaseResult:
    """That scenario, and no other one."""
    sut = SutFile.model_validate({"weir": 1, "name": "made", "sanity": {"iterations": iterations}})
    suite = SUITES["sanity"].of(sut)
    alone = replace(suite, cases=tuple(one for one in suite.cases if one.name == name))
    (case,) = verified(cloud, sut, [alone]).suites[0].cases
    return case


def test_eleven_of_56_are_done_and_the_others_say_why_they_are_not() -> None:
    cloud = MadeCloud(says="inet 10.0.0.3/24")
    found = done(cloud)
    outcomes = {name: (one.outcome, one.why) for name, one in found.items() if name in COUNTERPARTS}
    assert outcomes == dict.fromkeys(outcomes, ("passed", None))
    assert len(outcomes) == 11
    others = {(one.outcome, one.why) for name, one in found.items() if name not in COUNTERPARTS}
    assert others == {("skipped", "it has no counterpart in a cloud without an API")}
    assert cloud.standing == 0


def test_which_have_none_is_known_before_a_run() -> None:
    cases = SUITES["sanity"].of(SutFile.model_validate({"weir": 1, "name": "made"})).cases
    assert {one.name for one in cases if one.lacks(MadeCloud()) is None} == set(COUNTERPARTS)


def test_each_is_done_as_often_as_asked_and_taking_it_down_is_a_part_where_it_is_one() -> None:
    found = done(MadeCloud(says="inet 10.0.0.3/24"), sanity={"iterations": 3})
    load = found[ROUTERS].scenario
    assert load is not None
    assert (load.planned, load.succeeded) == (3, 3)
    assert [(one.name, len(one.seconds)) for one in load.operations] == [
        ("iteration", 3), ("make a network, a subnet and a router", 3), ("list routers", 3), (REMOVE, 3),
    ]  # fmt: skip
    other = found["NeutronNetworks.create_and_list_routers"].scenario
    assert other is not None
    assert REMOVE not in [one.name for one in other.operations]


def test_a_cloud_that_does_not_stand_fails_them_with_its_cause() -> None:
    found = done(MadeCloud(does_not_stand="no address"), sanity={"iterations": 2})
    why = "2 of 2 iterations failed, at most 0% may: 2 × no address"
    assert {found[name].why for name in COUNTERPARTS} == {why}
    load = found[ROUTERS].scenario
    assert load is not None
    assert load.operations[1].failed == 2


def test_an_iteration_that_leaves_something_fails_alone_and_the_case_names_all_that_is_left() -> None:
    cloud = MadeCloud(leaves=["network 1 stays", "", "network 3 stays", ""])
    case = done_alone(cloud, ROUTERS, 4)
    load = case.scenario
    assert load is not None
    assert (load.planned, load.succeeded, load.failed) == (4, 2, 2)
    assert load.causes == {"network 1 stays": 1, "network 3 stays": 1}
    (removal,) = [one for one in load.operations if one.name == REMOVE]
    assert (len(removal.seconds), removal.failed) == (2, 2)
    assert case.not_removed == "network 1 stays; network 3 stays"


def test_an_interface_without_the_servers_address_is_a_failure() -> None:
    found = done(MadeCloud(says="inet 10.0.0.9/24"))[INTERFACES]
    assert found.why is not None
    assert found.why.endswith("the server's interfaces have 10.0.0.9, not 10.0.0.3")
