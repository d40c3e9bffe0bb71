# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the suite, and the tasks that Rally gets of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weir.lab.scenario_names import SCENARIO_NAMES
from weir.lab.sut import SutFile
from weir.verify.driver import ScenarioWanted
from weir.verify.sanity.counterparts import COUNTERPARTS
from weir.verify.sanity.table import SCENARIOS, Of, Scenario
from weir.verify.sanity.task import Filling, task
from weir.verify.suites.sanity import SUITE, wanted

BY_NAME = {one.name: one for one in SCENARIOS}
VALUES = {one: f"<{one.name}>" for one in Of}


def made(
    scenario: Scenario, folder: Path, asked: ScenarioWanted | None = None, roles: Any = ()
) -> dict[str, Any]:
    found = task(scenario, asked or ScenarioWanted(scenario.name), Filling(VALUES, roles, folder))
    (subtask,) = found["subtasks"]
    assert found["version"] == 2
    return dict(subtask)


def test_there_are_56_scenarios_of_thirteen_kinds_and_no_two_have_a_name() -> None:
    assert len(SCENARIOS) == len(BY_NAME) == 56
    kinds = [name.partition(".")[0] for name in BY_NAME]
    assert {one: kinds.count(one) for one in kinds} == {
        "Authenticate": 6, "CinderQos": 2, "CinderVolumes": 6, "CinderVolumeTypes": 2, "GlanceImages": 4,
        "HeatStacks": 4, "KeystoneBasic": 11, "NeutronNetworks": 9, "NeutronSecurityGroup": 2,
        "NovaKeypair": 1, "NovaServerGroups": 1, "NovaServers": 4, "Quotas": 4,
    }  # fmt: skip
    assert set(COUNTERPARTS) <= set(BY_NAME)


def test_a_file_may_have_limits_for_just_these() -> None:
    assert list(BY_NAME) == list(SCENARIO_NAMES)


def test_all_but_those_of_block_storage_and_orchestration_need_four_services_at_most() -> None:
    basic = {"compute", "image", "network"}
    missing = {one.name for one in SCENARIOS if not set(one.services) <= basic}
    assert len(missing) == 19
    assert {name for name in missing if "block-storage" in BY_NAME[name].services} == {
        name for name in BY_NAME if "inder" in name or "from_volume" in name
    }


@pytest.mark.parametrize("name", BY_NAME)
def test_a_task_is_json_of_one_scenario_with_all_words_filled_in(name: str, tmp_path: Path) -> None:
    found = made(BY_NAME[name], tmp_path, roles={"admin", "heat_stack_owner"})
    assert list(found["scenario"]) == [name.partition("-")[0]]
    assert json.loads(json.dumps(found)) == found
    for value in found["scenario"][name.partition("-")[0]].values():
        if isinstance(value, str) and value.startswith(str(tmp_path)):
            assert json.loads(Path(value).read_text())["resources"]


def test_rows_that_differ_in_arguments_are_one_scenario_of_rallys(tmp_path: Path) -> None:
    found = [made(one, tmp_path)["scenario"] for one in SCENARIOS if "create_and_delete_volume" in one.name]
    assert [one["CinderVolumes.create_and_delete_volume"] for one in found] == [
        {"size": {"min": 1, "max": 1}},
        {"size": 1, "image": {"id": "<IMAGE>"}},
        {"size": 1},
    ]


def test_a_task_has_as_many_iterations_and_limits_as_wanted(tmp_path: Path) -> None:
    asked = ScenarioWanted("Quotas.nova_update", 10, 4, 3, 2, failure_ratio=0.2, time_s=7.5)
    found = made(BY_NAME["Quotas.nova_update"], tmp_path, asked)
    assert found["runner"] == {"constant": {"times": 10, "concurrency": 4}}
    assert found["contexts"]["users"] == {"tenants": 3, "users_per_tenant": 2}
    assert found["sla"] == {"failure_rate": {"max": 20.0}, "max_seconds_per_iteration": 7.5}


def test_roles_that_a_cloud_does_not_have_are_not_asked_for(tmp_path: Path) -> None:
    stack, gateway = (
        BY_NAME["HeatStacks.create_check_delete_stack"],
        BY_NAME["NeutronNetworks.set_and_clear_router_gateway"],
    )
    assert "roles" not in made(stack, tmp_path, roles={"admin"})["contexts"]
    assert made(gateway, tmp_path, roles={"admin"})["contexts"]["roles"] == ["admin"]


def test_what_an_administrator_does_alone_makes_no_users(tmp_path: Path) -> None:
    assert "users" not in made(BY_NAME["KeystoneBasic.create_user"], tmp_path)["contexts"]
    assert "users" in made(BY_NAME["KeystoneBasic.add_and_remove_user_role"], tmp_path)["contexts"]


def test_limits_are_a_scenarios_own_or_those_of_all_or_its_kinds() -> None:
    name = "NovaServers.pause_and_unpause_server"
    plain = SutFile(weir=1, name="some")
    assert (wanted(BY_NAME[name], plain).time_s, wanted(BY_NAME[name], plain).failure_ratio) == (240.0, 0.0)
    sla = {"scenarios": {"failure_ratio": 0.1, "time_s": {"max": 50}, "own": {name: {"time_s": {"max": 70}}}}}
    given = SutFile.model_validate({"weir": 1, "name": "some", "sla": sla, "sanity": {"iterations": 4}})
    own, other = wanted(BY_NAME[name], given), wanted(BY_NAME["Quotas.nova_update"], given)
    assert (own.time_s, own.failure_ratio, own.iterations) == (70.0, 0.1, 4)
    assert (other.time_s, other.failure_ratio) == (50.0, 0.1)


def test_the_suite_has_a_case_for_each() -> None:
    assert [one.name for one in SUITE.of(SutFile(weir=1, name="some")).cases] == list(BY_NAME)
