# SPDX-License-Identifier: Apache-2.0
"""What a case made goes again, whatever kind of cloud it was made in."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.verify.drivers.openstack.building import Building
from weir.verify.report.page import page

from .conftest import Playing
from .made_routers import interfaces_of
from .replay import Fault
from .test_faults import BROKEN, POOL, SERVERS
from .test_healthcheck import standing


@pytest.mark.parametrize(
    "owner",
    [
        "network:router_interface",
        "network:router_interface_distributed",
        "network:ha_router_replicated_interface",
    ],
)
def test_routers_go_with_their_interfaces_whether_they_are_plain_distributed_or_highly_available(
    owner: str, played: Playing, journals: Path
) -> None:
    with played("healthcheck", case="tenantnetwork1", faults=interfaces_of(owner)) as cloud:
        found = cloud.case()
    assert (found.outcome, found.why, found.not_removed) == ("passed", None, None)
    assert cloud.replay.strange == []
    left = [path for method, path in cloud.replay.requests if path.endswith("/remove_router_interface")]
    router = left[0].split("/")[-2]
    assert len(left) == 1
    asked = cloud.replay.requests
    assert asked.index(("PUT", left[0])) < asked.index(("DELETE", f"/network/v2.0/routers/{router}"))
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


STAYS = Fault("DELETE", "/network/v2.0/routers/", status=409, said=POOL)


@pytest.mark.long
def test_what_a_stack_that_was_not_built_leaves_is_told_as_what_a_case_leaves(played: Playing) -> None:
    faults = [Fault("POST", SERVERS, status=500, said=BROKEN), STAYS]
    with played("healthcheck", case="singlevm1", faults=faults) as cloud:
        found = cloud.run()
    (case,) = found.suites[0].cases
    assert case.outcome == "failed"
    assert "make server vm: HTTP 500" in (case.why or "")
    assert "router weir-c0ffee000001-own-router" in (case.not_removed or "")
    assert (case.not_removed or "") in (case.why or "")
    assert case.clean_up_seconds > 1
    assert "nothing left" not in page(found)


@pytest.mark.long
def test_what_a_stack_leaves_whose_building_was_interrupted_is_told(
    played: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with played("healthcheck", case="singlevm1", faults=[STAYS]) as cloud:
        monkeypatch.setattr(Building, "_await", interrupted)
        found = cloud.run()
    (case,) = found.suites[0].cases
    assert found.interrupted
    assert (case.outcome, case.why) == ("not run", None)
    assert "router weir-c0ffee000001-own-router" in (case.not_removed or "")
    assert case.seconds < case.clean_up_seconds
