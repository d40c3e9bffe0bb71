# SPDX-License-Identifier: Apache-2.0
"""Scenarios of a replayed cloud: who may have them done, what Rally is told, and what is removed after it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.fabric import attended
from weir.verify.driver import CannotRunError, CloudError, ScenarioWanted
from weir.verify.drivers.openstack import OpenStackDriver, rally, removal

from . import exchange, scenario
from .conftest import known
from .replay import Fault, Replay, playing

ROUTERS = ScenarioWanted("NeutronNetworks.create_and_delete_routers")
REPORTS = Path(__file__).parents[1] / "sanity" / "recorded"
Driven = Callable[..., Any]


@pytest.fixture
def driven(tmp_path: Path, journals: Path, monkeypatch: pytest.MonkeyPatch) -> Driven:
    """`driven(NAME, faults)`: a driver, and what it asks."""
    assert not journals.exists()
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(removal, "LIMIT_S", 4.0)
    monkeypatch.setattr(attended, "end", lambda _marker: None)

    @contextmanager
    def drive(name: str, faults: Sequence[Fault] = ()) -> Iterator[tuple[OpenStackDriver, Replay]]:
        wanted = scenario.Scenario(member=name == "unswept")
        with playing(exchange.read(name), faults) as replay:
            known(tmp_path, replay, wanted, monkeypatch)
            file = scenario.sut(wanted, "recorded", tmp_path / "image")
            yield OpenStackDriver(file, tmp_path, scenario.counted()), replay

    return drive


def attending(monkeypatch: pytest.MonkeyPatch, does: Callable[[dict[str, Any]], int]) -> list[dict[str, Any]]:
    """In place of Rally; what it was asked."""
    asked: list[dict[str, Any]] = []

    def attend(_name: str, words: Sequence[str], **how: Any) -> int:
        assert exchange.PASSWORD not in " ".join([*words, *map(str, how["environment"].values())])
        asked.append(json.loads(how["secret"]))
        return does(asked[-1])

    monkeypatch.setattr(attended, "attend", attend)
    return asked


def killed(_request: dict[str, Any]) -> int:
    return -15


def hangs(_request: dict[str, Any]) -> int:
    raise FabricError("Rally has not ended within 30 s")


def removed(replay: Replay) -> set[str]:
    return {path for method, path in replay.requests if method == "DELETE"}


def deleted(name: str) -> set[str]:
    return {one.path for one in exchange.read(name) if one.method == "DELETE"}


@pytest.mark.parametrize(
    ("does", "why"),
    [(killed, "Rally ended with signal 15, and no report"), (hangs, "Rally has not ended within 30 s")],
)
def test_what_a_rally_that_died_had_made_is_removed(
    does: Callable[[dict[str, Any]], int],
    why: str,
    driven: Driven,
    journals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attending(monkeypatch, does)
    with driven("swept") as (driver, replay):
        with pytest.raises(CloudError, match=why), driver.scenario(ROUTERS, 30.0):
            pass
        assert removed(replay) == deleted("swept")
        kinds = {path.rpartition("/")[0] for path in removed(replay)}
        assert {"/identity/v3/projects", "/identity/v3/users", "/network/v2.0/networks"} <= kinds
    assert list(journals.iterdir()) == []


def test_rally_is_told_who_logs_in_and_what_names_begin_with(
    driven: Driven, tmp_path: Path, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reports(request: dict[str, Any]) -> int:
        (journal,) = journals.glob("*.journal")
        assert '"make": "scenario"' in journal.read_text()
        assert exchange.PASSWORD not in journal.read_text()
        Path(request["report"]).write_text((REPORTS / "good.json").read_text())
        return 0

    asked = attending(monkeypatch, reports)
    networks = ScenarioWanted("NeutronNetworks.create_and_delete_networks", 5, 2, time_s=30.0)
    with driven("swept") as (driver, _), driver.scenario(networks, 30.0) as found:
        assert len(found) == 5
    (request,) = asked
    assert request["tag"] == "weir-c0ffee000001"
    assert request["platform"]["admin"] == {
        "username": "admin", "password": exchange.PASSWORD, "project_name": "admin",
        "user_domain_name": "Default", "project_domain_name": "Default",
    }  # fmt: skip
    assert request["task"]["subtasks"][0]["runner"] == {"constant": {"times": 5, "concurrency": 2}}
    assert not Path(request["report"]).parent.exists()
    assert list(tmp_path.glob("rally-*")) == []


def test_what_the_cloud_does_not_let_go_is_told_and_stays_in_the_journal(
    driven: Driven, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attending(monkeypatch, killed)
    faults = [Fault("DELETE", "/network/v2.0/networks/", status=500)]
    with (
        driven("swept", faults) as (driver, _),
        pytest.raises(CloudError) as caught,
        driver.scenario(ROUTERS, 30.0),
    ):
        pass
    assert "Rally ended with signal 15" in str(caught.value)
    assert "of its scenario stays: remove network" in str(caught.value)
    assert len(list(journals.glob("*.journal"))) == 1


def test_a_user_without_rights_has_none_done(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = attending(monkeypatch, killed)
    with driven("unswept") as (driver, _):
        for _ in range(2):
            with (
                pytest.raises(CannotRunError, match="an administrator's rights"),
                driver.scenario(ROUTERS, 30.0),
            ):
                pass
    assert asked == []


def without(kind: str) -> Callable[[Any], Any]:
    def change(said: Any) -> Any:
        catalog = said["token"]["catalog"]
        return {"token": said["token"] | {"catalog": [one for one in catalog if one["type"] != kind]}}

    return change


def test_a_service_that_the_catalogue_lacks_is_named(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = attending(monkeypatch, killed)
    faults = [Fault("POST", "/identity/v3/auth/tokens", change=without("volumev3"))]
    volume = ScenarioWanted("CinderVolumes.create_and_extend_volume")
    with (
        driven("swept", faults) as (driver, _),
        pytest.raises(CannotRunError) as caught,
        driver.scenario(volume, 30.0),
    ):
        pass
    assert str(caught.value) == "the catalogue of cloud recorded has no service of type block-storage"
    assert asked == []


def test_without_rally_the_suite_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(FabricError, match=r"needs Rally with rally-openstack; `make rally` installs it"):
        rally.require()
