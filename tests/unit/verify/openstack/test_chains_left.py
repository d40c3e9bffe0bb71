# SPDX-License-Identifier: Apache-2.0
"""What stays of a chain's tester on this host is told, and hides neither why the chain did not come up nor
Ctrl-C."""

from __future__ import annotations

from typing import Any

import pytest

from weir.verify.driver import CloudError
from weir.verify.drivers import openstack
from weir.verify.drivers.openstack.chain import OpenStackChain

from .conftest import Playing
from .test_healthcheck import standing

STAYS = "own-verify-1 is not all gone: bridge: Device or resource busy"
ROUTER_STAYS = "not removed within 180 s: router own-router (HTTP 409)"


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def removing_all_but_a_router(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise CloudError(ROUTER_STAYS)

    monkeypatch.setattr(openstack, "remove", refused)


@pytest.mark.long
def test_why_a_chain_did_not_come_up_is_told_before_what_stays_of_its_tester(played: Playing) -> None:
    with played("chains", case="pvp_generic") as cloud:
        cloud.tester.device.wrong.denied_share = 1.0
        cloud.tester.stays = STAYS
        found = cloud.case()
    assert (found.outcome, found.not_removed) == ("failed", STAYS)
    assert (found.why or "").startswith("nothing that tester sends arrives")
    assert f"; and then: {STAYS}" in (found.why or "")
    assert (cloud.tester.attached, cloud.tester.sessions) == (0, 0)
    assert standing(cloud.replay) == set()


@pytest.mark.long
def test_ctrl_c_ends_the_run_though_something_of_the_tester_does_not_go(
    played: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenStackChain, "begin", interrupted)
    with played("chains", case="pvp_generic") as cloud:
        cloud.tester.stays = STAYS
        found = cloud.run()
    (case,) = found.suites[0].cases
    assert found.interrupted
    assert (case.outcome, case.why, case.not_removed) == ("not run", None, STAYS)
    assert standing(cloud.replay) == set()


@pytest.mark.long
@pytest.mark.parametrize("pressed", [True, False])
def test_what_stays_of_the_tester_is_told_with_what_stays_in_the_cloud(
    *, pressed: bool, played: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    with played("chains", case="pvp_generic") as cloud:
        removing_all_but_a_router(monkeypatch)
        cloud.tester.stays = STAYS
        cloud.tester.device.wrong.denied_share = 1.0
        if pressed:
            monkeypatch.setattr(OpenStackChain, "begin", interrupted)
        found = cloud.run()
    (case,) = found.suites[0].cases
    assert (found.interrupted, case.outcome) == (pressed, "not run" if pressed else "failed")
    assert case.not_removed == f"{STAYS}; {ROUTER_STAYS}"


@pytest.mark.long
def test_what_stays_of_the_tester_of_a_chain_that_was_measured_is_told(played: Playing) -> None:
    with played("chains", case="pvp_generic") as cloud:
        cloud.tester.stays = STAYS
        found = cloud.case()
    assert (found.outcome, found.not_removed) == ("failed", f"{STAYS}; mend that and destroy again")
    assert standing(cloud.replay) == set()
