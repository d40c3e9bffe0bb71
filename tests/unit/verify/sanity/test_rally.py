# SPDX-License-Identifier: Apache-2.0
"""What a cloud must have for scenarios by Rally is asked once, and again where it could not be asked."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weir.fabric import attended
from weir.lab.sut import OpenStackCloud
from weir.verify.driver import CannotRunError, CloudError, ScenarioWanted
from weir.verify.drivers.openstack import services
from weir.verify.drivers.openstack.connection import Cloud, Deadline
from weir.verify.drivers.openstack.rally import Scenarios
from weir.verify.sanity.table import SCENARIOS

from .made_sdk import KINDS, MadeApi, MadeSdk, thing

WANTED = ScenarioWanted(SCENARIOS[0].name, iterations=1, concurrency=1)


class Listing(MadeSdk):
    """Whose roles cannot be listed so many times; `asked`: how often they were."""

    fails: int = 0
    asked: int = 0
    config: Any = None

    def _listed(self, kind: str, how: dict[str, Any]) -> list[Any]:
        if kind == "role":
            self.asked += 1
            if self.asked <= self.fails:
                raise ValueError("HTTP 503")
        return super()._listed(kind, how)


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> Listing:
    monkeypatch.setattr(services, "kinds", lambda *_: set(KINDS))
    sdk = Listing({"role": [thing("heat_stack_owner")]})
    sdk.config = SimpleNamespace(config={"auth": {"password": "secret"}})
    return sdk


def scenarios(sdk: Listing, folder: Path) -> Scenarios:
    options = OpenStackCloud(cloud="made", external_network="public", image="debian", flavor="small")
    return Scenarios(MadeApi(sdk), options, folder)  # type: ignore[arg-type]


def test_a_cloud_whose_roles_could_not_be_listed_is_asked_again_for_the_next_scenario(
    sdk: Listing, tmp_path: Path
) -> None:
    sdk.fails = 2
    asking = scenarios(sdk, tmp_path)
    for _ in range(2):
        with pytest.raises(CloudError, match="list projects and roles: HTTP 503"):
            asking.require(WANTED, Deadline(20))
    asking.require(WANTED, Deadline(20))
    assert sdk.asked == 3


def test_a_cloud_that_has_answered_is_not_asked_again(sdk: Listing, tmp_path: Path) -> None:
    asking = scenarios(sdk, tmp_path)
    for _ in range(3):
        asking.require(WANTED, Deadline(20))
    assert sdk.asked == 1


def test_a_user_without_a_password_is_refused_each_scenario(sdk: Listing, tmp_path: Path) -> None:
    sdk.config.config["auth"].clear()
    asking = scenarios(sdk, tmp_path)
    for _ in range(2):
        with pytest.raises(CannotRunError, match="has none"):
            asking.require(WANTED, Deadline(20))


def test_of_a_service_whose_versions_the_sdk_cannot_learn_only_scenarios_that_ask_it_fail(
    sdk: Listing, tmp_path: Path
) -> None:
    sdk.silent = "image"
    asking, known = scenarios(sdk, tmp_path), {one.name: one for one in SCENARIOS}
    networks = known["NeutronNetworks.create_and_delete_networks"]
    assert asking._values(networks, tmp_path, Deadline(20)) == {}
    with pytest.raises(CloudError, match=r"^look for image debian: no supported versions$"):
        asking._values(known["NovaServers.boot_server_and_list_interfaces"], tmp_path, Deadline(20))


def test_an_administrators_password_that_is_a_word_of_rallys_spoils_no_report(
    sdk: Listing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ScenarioWanted("NeutronNetworks.create_and_delete_networks", iterations=5, time_s=30.0)
    asking = scenarios(sdk, tmp_path)
    asking._cloud = Cloud(sdk, "made", frozenset({"neutron"}))
    recorded = Path(__file__).parent / "recorded" / "good.json"

    def done(_name: str, _words: object, *, directory: Path, **_how: object) -> int:
        (directory / "report.json").write_text(recorded.read_text())
        return 0

    monkeypatch.setattr(attended, "attend", done)
    scenario = next(one for one in SCENARIOS if one.name == wanted.name)
    found = asking._done(scenario, wanted, {"tag": "weir-a"}, tmp_path, Deadline(20))
    assert {one.name for each in found for one in each.operations} == {
        "neutron.create_network",
        "neutron.delete_network",
    }
