# SPDX-License-Identifier: Apache-2.0
"""What becomes of a cloud that was built for a body, by how that ends."""

from __future__ import annotations

import pytest

from weir.base.cloud import CloudTopology
from weir.base.error import FabricError
from weir.fabric import stop_signals
from weir.fabric.cloud.deployed import deployed_cloud
from weir.fabric.deployment import Deployment, Event, OnEvent, ignore
from weir.lab.tenants import Tenant, TenantsFile
from weir.plan.cloud import cloud_topology


class Recorded:
    """A deployment that only says what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def keep(self) -> None:
        self.asked.append("keep")

    def keep_logs(self, error: BaseException) -> None:
        self.asked.append(f"logs of: {error}")

    def destroy(self, on_event: OnEvent = ignore) -> None:
        self.asked.append("destroy" if on_event is ignore else "destroy, told of")


@pytest.fixture
def topology() -> CloudTopology:
    return cloud_topology(TenantsFile(weir=1, name="cloud", tenants=(Tenant(name="blue"),)), "cloud-12345678")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    made = Recorded()
    monkeypatch.setattr(Deployment, "deploy", lambda *_: made)
    return made


def test_it_is_taken_down_after_a_body_that_ends_well(topology: CloudTopology, recorded: Recorded) -> None:
    with deployed_cloud([], topology):
        assert recorded.asked == []
    assert recorded.asked == ["destroy"]


def test_kept_it_stays(topology: CloudTopology, recorded: Recorded) -> None:
    with deployed_cloud([], topology, kept=True):
        assert recorded.asked == []
    assert recorded.asked == ["keep"]


@pytest.mark.parametrize("kept", [False, True])
def test_after_an_error_it_is_taken_down_and_its_logs_are_kept_first(
    topology: CloudTopology, recorded: Recorded, *, kept: bool
) -> None:
    with pytest.raises(FabricError, match="no answer"), deployed_cloud([], topology, kept=kept):
        raise FabricError("no answer")
    assert recorded.asked == ["logs of: no answer", "destroy"]


def test_ctrl_c_that_comes_before_it_is_kept_takes_it_down(
    topology: CloudTopology, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stop_signals, "check", pressed)
    with pytest.raises(KeyboardInterrupt), deployed_cloud([], topology, kept=True):
        pass
    assert recorded.asked == ["keep", "logs of: ", "destroy"]


def test_who_is_told_of_its_steps_is_told_of_those_that_are_undone_after_an_error(
    topology: CloudTopology, recorded: Recorded
) -> None:
    told: list[Event] = []
    with pytest.raises(FabricError, match="no answer"), deployed_cloud([], topology, told.append):
        raise FabricError("no answer")
    assert recorded.asked == ["logs of: no answer", "destroy, told of"]
