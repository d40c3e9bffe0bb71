# SPDX-License-Identifier: Apache-2.0
"""What scenarios left is removed, and nothing that only looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from weir.fabric import attended
from weir.verify.driver import CloudError
from weir.verify.drivers.openstack import services
from weir.verify.drivers.openstack.connection import Deadline
from weir.verify.drivers.openstack.sweep import marker, sweep

from .made_sdk import FILTERED, KINDS, MadeApi, MadeSdk, thing

TAG = "weir-0123456789ab"
MINE = f"{TAG}_a1B_c2D3e4F5"
LOOK_ALIKES = (
    "weir-0123456789ab-own-network", "weir-0123456789ac_a1B_c2D3e4F5", "weir-0123456789ab_a1B_c2D3e4F",
    "weir-0123456789ab_a1B_c2D3e4F5 and more", "my-weir-0123456789ab_a1B_c2D3e4F5",
    "s_rally_0a1b2c3d_AbCdEfGh", "weir-0123456789ab",
)  # fmt: skip


@pytest.fixture(autouse=True)
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Markers of processes that were to end."""
    asked: list[str] = []
    known = {"identity", "compute", "network", "block-storage", "image", "orchestration"}
    monkeypatch.setattr(attended, "end", asked.append)
    monkeypatch.setattr(services, "kinds", lambda *_: known)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return asked


def swept(
    there: dict[str, list[Any]],
    refused: set[str] | None = None,
    within_s: float = 20.0,
    *,
    deaf: bool = False,
    silent: str = "",
    holds: tuple[str, str] = ("", ""),
    deleted: list[str] | None = None,
) -> MadeSdk:
    known = {kind: there.get(kind, []) for kinds in KINDS.values() for kind in kinds}
    gone = [] if deleted is None else deleted
    sdk = MadeSdk(known, refused or set(), gone, deaf=deaf, silent=silent, holds=holds)
    sweep(MadeApi(sdk), TAG, Deadline(within_s))  # type: ignore[arg-type]
    return sdk


def test_a_project_of_that_name_goes_with_all_that_is_in_it_whatever_its_name(ended: list[str]) -> None:
    inside = [
        "stack", "server", "server_group", "snapshot", "volume", "ip", "router", "port", "network",
        "security_group", "image",
    ]  # fmt: skip
    there = {kind: [thing(f"any-{kind}", f"#{MINE}"), thing(f"other-{kind}", "#other")] for kind in inside}
    there["project"] = [thing(MINE), thing("other")]
    there["user"] = [thing(MINE), thing("admin")]
    sdk = swept(there)
    assert {one.split()[0] for one in sdk.deleted} == {*inside, "project", "user"}
    assert not [one for one in sdk.deleted if "other" in one or "admin" in one]
    assert sdk.deleted.index("server #any-server") < sdk.deleted.index("network #any-network")
    assert sdk.deleted[-1] == f"project #{MINE}"
    assert ended == [marker(TAG)]


def test_a_project_stays_until_what_a_slow_server_holds_is_gone_and_its_default_group_too() -> None:
    """In a project that is gone nobody would find it."""
    group = thing("default", f"#{MINE}")
    there = {"project": [thing(MINE)], "server": [thing("any", f"#{MINE}")], "security_group": [group]}
    sdk = swept(there, holds=("server", "security_group"))
    assert sdk.deleted == ["server #any", "security_group #default", f"project #{MINE}"]


def test_a_project_whose_default_group_does_not_go_stays_and_is_told() -> None:
    there = {"project": [thing(MINE)], "security_group": [thing("default", f"#{MINE}")]}
    deleted: list[str] = []
    with pytest.raises(CloudError, match=r"remove security group default: security_group does not go$"):
        swept(there, {"security_group"}, within_s=0.05, deleted=deleted)
    assert deleted == []


@pytest.mark.parametrize(
    "owner",
    [
        "network:router_interface",
        "network:router_interface_distributed",
        "network:ha_router_replicated_interface",
    ],
)
def test_a_router_loses_its_interfaces_before_it_goes_whatever_kind_of_router_it_is(owner: str) -> None:
    router = thing("r", f"#{MINE}")
    ports = [
        thing("inner", f"#{MINE}", device_owner=owner, device_id=router.id),
        thing("outer", "", device_owner="network:router_gateway", device_id=router.id),
        thing("beat", "", device_owner="network:router_ha_interface", device_id=router.id),
        thing("other", "#other", device_owner=owner, device_id="#another"),
    ]
    sdk = swept({"project": [thing(MINE)], "router": [router], "port": ports})
    assert sdk.deleted == ["port #inner", "router #r", f"project #{MINE}"]


def test_a_cloud_that_does_not_heed_filters_loses_nothing_of_others() -> None:
    there = {kind: [thing(f"my-{kind}", f"#{MINE}"), thing(f"other-{kind}", "#other")] for kind in FILTERED}
    owner = {"device_owner": "network:router_interface"}
    there["port"] += [
        thing("my-interface", f"#{MINE}", device_id="#my-router", **owner),
        thing("other-interface", "#other", device_id="#other-router", **owner),
    ]
    sdk = swept(there | {"project": [thing(MINE), thing("other")]}, deaf=True)
    assert not [one for one in sdk.deleted if "other" in one]
    assert sdk.deleted.count("port #my-interface") == 1
    assert {f"{kind} #my-{kind}" for kind in FILTERED} < set(sdk.deleted)


@pytest.mark.parametrize(
    "kind",
    [
        "role",
        "service",
        "server",
        "server_group",
        "volume",
        "type",
        "router",
        "network",
        "security_group",
        "image",
    ],
)
def test_elsewhere_the_whole_name_counts(kind: str) -> None:
    sdk = swept({kind: [thing(MINE, "#other"), *(thing(one, "#other") for one in LOOK_ALIKES)]})
    assert sdk.deleted == [f"{kind} #{MINE}"]


def test_look_alikes_of_projects_and_users_stay() -> None:
    assert swept({kind: [thing(one) for one in LOOK_ALIKES] for kind in ("project", "user")}).deleted == []


def test_what_nova_numbers_of_one_request_is_the_scenarios_too() -> None:
    assert swept({"server": [thing(f"{MINE}-1"), thing(f"{MINE}-2")]}).deleted == [
        f"server #{MINE}-1",
        f"server #{MINE}-2",
    ]


@pytest.mark.parametrize(
    ("service", "asked"),
    [("identity", "projects"), ("compute", "servers"), ("block_storage", "volumes"), ("network", "routers")],
)
def test_a_service_whose_versions_the_sdk_cannot_learn_is_the_clouds_fault(service: str, asked: str) -> None:
    with pytest.raises(CloudError, match=rf"^look for {asked}: no supported versions$"):
        swept({"image": [thing(MINE)]}, silent=service)


def test_in_a_project_too_a_service_whose_versions_the_sdk_cannot_learn_is_the_clouds_fault() -> None:
    with pytest.raises(CloudError, match=r"^look for stacks: no supported versions$"):
        swept({"project": [thing(MINE)]}, silent="orchestration")


def test_what_does_not_go_is_named_and_the_rest_goes() -> None:
    with pytest.raises(
        CloudError, match=rf"^of its scenario stays: remove network {MINE}: network does not go$"
    ):
        swept({"network": [thing(MINE)], "image": [thing(MINE)]}, {"network"}, within_s=0.05)
