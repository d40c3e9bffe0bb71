# SPDX-License-Identifier: Apache-2.0
"""The healthcheck of an OpenStack cloud, as a real one answered it (OpenStack Zed, emulated servers)."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError, WeirError
from weir.lab.sut import SutFile
from weir.verify.driver import CloudError
from weir.verify.drivers.openstack import OpenStackDriver, services
from weir.verify.drivers.openstack.connection import Deadline
from weir.verify.report.junit import junit
from weir.verify.report.page import page

from .conftest import Playing
from .exchange import CLOUD, PASSWORD, TOKEN
from .replay import Fault, Replay

# What changes something else than what its path ends with, which was made as well.
_OF_ROUTER = re.compile(r"/network/v2.0/routers/([^/]+)/(?:add|remove)_router_interface$")
_OF_PROJECT = re.compile(r"/identity/v3/projects/([^/]+)/users/")
_OF_FLAVOR = re.compile(r"/compute/v2.1/flavors/([^/]+)/(?:os-extra_specs|action)$")
_OF_IMAGE = re.compile(r"/image/v2/images/([^/]+)/file$")


def changed(replay: Replay) -> set[str]:
    """Identifiers of all that was asked to change, or to go."""
    found = set()
    for method, path in replay.requests:
        if method in ("PUT", "PATCH", "DELETE"):
            part = next((m for one in (_OF_ROUTER, _OF_PROJECT, _OF_IMAGE) if (m := one.search(path))), None)
            found.add(part[1] if part else path.rpartition("/")[2])
        elif method == "POST" and (part := _OF_FLAVOR.search(path)):
            found.add(part[1])
    return found


def standing(replay: Replay) -> set[str]:
    """Identifiers of what was made and is not gone. A security group's rules go with it."""
    made = set()
    for one in replay.exchanges:
        if one.method == "POST" and isinstance(one.said, dict):
            for kind, what in one.said.items():
                if isinstance(what, dict) and kind != "security_group_rule":
                    made.add(str(what.get("name") if kind == "keypair" else what.get("id")))
            if one.path == "/image/v2/images":
                made.add(str(one.said["id"]))
    return (made & replay.made) - replay.removed


def own_groups(replay: Replay) -> set[str]:
    """Security groups that Neutron made in projects that were made."""
    return {
        str(group["id"])
        for one in replay.exchanges
        if one.path.startswith("/network/v2.0/security-groups?project_id=")
        for group in one.said["security_groups"]
        if group["project_id"] in replay.made
    }


@pytest.mark.long
def test_nine_of_nine_pass_as_on_the_recorded_cloud_and_nothing_is_changed_but_what_they_made(
    played: Playing, journals: Path
) -> None:
    """The project has a network, a router, a security group and a key of others, called alike."""
    with played("healthcheck") as cloud:
        found = cloud.run()
    outcomes = {one.name: (one.outcome, one.why, one.not_removed) for one in found.suites[0].cases}
    assert outcomes == dict.fromkeys(outcomes, ("passed", None, None))
    assert len(outcomes) == 9
    assert cloud.replay.strange == []
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []
    asked = changed(cloud.replay)
    assert len(asked) > 30
    assert asked <= cloud.replay.made | own_groups(cloud.replay)


def test_a_user_without_rights_has_cases_with_a_project_of_their_own_skipped_for_that_reason(
    played: Playing,
) -> None:
    with played("member") as cloud:
        found = cloud.run()
    first, second = found.suites[0].cases
    assert (first.outcome, second.outcome) == ("passed", "skipped")
    assert "needs an administrator's rights" in (second.why or "")
    assert standing(cloud.replay) == set()


def test_an_image_is_uploaded_and_a_flavor_made_where_the_file_says_so(played: Playing) -> None:
    with played("made") as cloud:
        found = cloud.case()
    assert (found.outcome, found.why) == ("passed", None)
    assert cloud.replay.strange == []
    assert any(path.endswith("/file") for method, path in cloud.replay.requests if method == "PUT")
    assert standing(cloud.replay) == set()


@pytest.mark.long
def test_neither_password_nor_token_is_in_what_is_found_or_written_down(
    played: Playing, journals: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    says = {"error": {"message": f"refused {PASSWORD} and {TOKEN}", "code": 400}}
    faults = [
        Fault("POST", "/network/v2.0/routers$", status=400, said=says),
        Fault("DELETE", ".*", status=500),
    ]
    with played("healthcheck", case="tenantnetwork1", faults=faults) as cloud:
        found = cloud.run()
    assert found.suites[0].cases[0].outcome == "failed"
    assert "refused (hidden) and (hidden)" in (found.suites[0].cases[0].why or "")
    (left,) = journals.glob("*.journal")
    said = capfd.readouterr()
    for text in (found.model_dump_json(), junit(found), page(found), left.read_text(), said.out, said.err):
        assert PASSWORD not in text
        assert TOKEN not in text
    assert left.stat().st_mode & 0o077 == 0


def test_without_the_sdk_it_says_what_to_install(played: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    with played("member") as cloud:
        monkeypatch.setitem(sys.modules, "openstack", None)
        with pytest.raises(FabricError, match=r"which is not here; install it: .* 'openstacksdk"):
            cloud.driver.require()


def test_a_cloud_that_clouds_yaml_does_not_have_is_named(played: Playing, tmp_path: Path) -> None:
    with played("member") as cloud:
        raw = cloud.file.model_dump()
        raw["openstack"]["cloud"] = "elsewhere"
        driver = OpenStackDriver(SutFile.model_validate(raw), tmp_path)
        with pytest.raises(FabricError, match="cloud elsewhere: "):
            driver.require()


def test_a_wrong_password_is_an_error_of_all_and_not_told(played: Playing) -> None:
    said = {"error": {"code": 401, "message": "The request you have made requires authentication."}}
    fault = Fault("POST", "/identity/v3/auth/tokens", status=401, said=said)
    with played("member", faults=[fault]) as cloud, pytest.raises(WeirError) as refused:
        cloud.driver.require()
    assert "log in to cloud recorded: HTTP 401" in str(refused.value) or "401" in str(refused.value)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    "catalog", ["none", [7], [{"name": "nova"}], [{"type": "compute", "endpoints": [{}]}]]
)
def test_a_catalogue_that_is_none_fails_the_connection_check(played: Playing, catalog: object) -> None:
    fault = Fault(
        "POST",
        "/identity/v3/auth/tokens",
        change=lambda said: {"token": said["token"] | {"catalog": catalog}},
    )
    with played("healthcheck", faults=[fault]) as cloud, pytest.raises(CloudError, match="makes no sense"):
        cloud.driver.services(20.0, ExitStack())


@pytest.mark.parametrize("service", ["compute", "network", "image", "placement"])
def test_a_service_that_does_not_answer_fails_the_connection_check_by_its_name(
    played: Playing, service: str
) -> None:
    fault = Fault("GET", f"/{service}(/|$)", status=503, said={})
    with (
        played("healthcheck", faults=[fault]) as cloud,
        pytest.raises(CloudError, match=f"^(ask )?{service} "),
    ):
        cloud.driver.services(20.0, ExitStack())


def catalogue_with(*more: dict[str, object]) -> Fault:
    """Services that the recorded cloud has not, made by hand."""
    return Fault(
        "POST",
        "/identity/v3/auth/tokens",
        change=lambda said: {"token": said["token"] | {"catalog": [*said["token"]["catalog"], *more]}},
    )


def entry(kind: str, *regions: str) -> dict[str, object]:
    endpoints = [
        {"url": f"{CLOUD}/{kind}", "interface": "public", "region": one, "region_id": one} for one in regions
    ]
    return {"type": kind, "name": kind, "endpoints": endpoints}


SERVICES: dict[str, tuple[str, dict[str, Any]]] = {
    "Heat's for CloudFormation, which wants a signature": (
        "cloudformation", {"status": 400, "text": "<ErrorResponse/>"},
    ),
    "Swift, to whom may not list": ("object-store", {"status": 403, "text": "<html>Forbidden</html>"}),
    "Swift, which lists as text": ("object-store", {"text": "photos\nbackups\n"}),
}  # fmt: skip


@pytest.mark.parametrize("what", SERVICES)
def test_a_service_that_answers_in_words_of_its_own_is_there(what: str, played: Playing) -> None:
    kind, said = SERVICES[what]
    faults = [catalogue_with(entry(kind, "RegionOne")), Fault("GET", f"/{kind}$", **said)]
    with played("healthcheck", faults=faults) as cloud:
        found = {one.name: one.answered for one in cloud.driver.services(20.0, ExitStack())}
    assert found[kind] == f"{kind} {said.get('status', 200)}"
    assert {"identity", "compute", "network", "image", "placement"} <= set(found)


@pytest.mark.parametrize(("kind", "status"), [("cloudformation", 503), ("placement", 404)])
def test_a_service_that_is_broken_or_is_not_what_it_should_be_is_named(
    kind: str, status: int, played: Playing
) -> None:
    faults = [catalogue_with(entry("cloudformation", "RegionOne")), Fault("GET", f"/{kind}$", status=status)]
    with (
        played("healthcheck", faults=faults) as cloud,
        pytest.raises(CloudError, match=rf"^{kind} at .* answers with HTTP {status}$"),
    ):
        cloud.driver.services(20.0, ExitStack())


def test_services_of_other_regions_and_those_without_endpoints_are_not_asked(played: Playing) -> None:
    fault = catalogue_with(entry("object-store", "RegionTwo"), entry("dns"))
    with played("healthcheck", faults=[fault]) as cloud:
        found = {one.name for one in cloud.driver.services(20.0, ExitStack())}
    assert "compute" in found
    assert not {"object-store", "dns"} & found


def test_a_service_of_other_regions_or_without_endpoints_is_none_that_scenarios_could_ask(
    played: Playing,
) -> None:
    fault = catalogue_with(entry("volumev3", "RegionTwo"), entry("orchestration"), entry("dns", "RegionOne"))
    with played("healthcheck", faults=[fault]) as cloud:
        found = services.kinds(cloud.driver._connected(), Deadline(20.0))
    assert {"compute", "network", "image", "identity", "dns"} <= found
    assert not {"block-storage", "orchestration"} & found


def test_without_a_service_that_servers_need_in_its_region_a_cloud_fails(played: Playing) -> None:
    def elsewhere(said: Any) -> Any:
        kept = [one for one in said["token"]["catalog"] if one["type"] != "compute"]
        return {"token": said["token"] | {"catalog": [*kept, entry("compute", "RegionTwo")]}}

    fault = Fault("POST", "/identity/v3/auth/tokens", change=elsewhere)
    with (
        played("healthcheck", faults=[fault]) as cloud,
        pytest.raises(CloudError, match="no service of type compute with an endpoint in region RegionOne"),
    ):
        cloud.driver.services(20.0, ExitStack())


def test_nothing_but_this_driver_loads_the_sdk() -> None:
    code = (
        "import sys, weir.cli.main, weir.procedures.throughput.command, weir.verify.command\n"
        "import weir.verify.drivers\n"
        "assert not {'openstack', 'keystoneauth1', 'requests'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
