# SPDX-License-Identifier: Apache-2.0
"""What a case made goes again, whatever kind of cloud it was made in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.verify.drivers.openstack import removal
from weir.verify.drivers.openstack.building import Building
from weir.verify.drivers.openstack.journal import Journal
from weir.verify.report.page import page

from .conftest import Playing
from .made_routers import interfaces_of
from .replay import Fault, Replay
from .test_faults import BROKEN, NETWORKS, POOL, SERVERS, made_without_an_answer
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
    assert case.clean_up_seconds > 1


@pytest.mark.long
def test_what_a_stack_leaves_whose_building_met_a_defect_is_told(
    played: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(*_: object) -> None:
        raise ZeroDivisionError

    with played("healthcheck", case="singlevm1", faults=[STAYS]) as cloud:
        monkeypatch.setattr(Building, "_await", defective)
        case = cloud.case()
    assert (case.outcome, case.why) == ("failed", "a defect of Weir: ZeroDivisionError:")
    assert "router weir-c0ffee000001-own-router" in (case.not_removed or "")
    assert case.clean_up_seconds > 1


def looks(replay: Replay, path: str) -> int:
    """How often something was looked for by its name."""
    return sum(
        method == "GET" and asked.startswith(f"{path}?name=weir-c0ffee") for method, asked in replay.requests
    )


@dataclass
class Late(Fault):
    """One that comes after so many seconds, for which nobody waits: what was written before it gets older."""

    after_s: float = 0.0
    written: Path = Path()

    def meets(self, method: str, path: str) -> bool:
        """As any other."""
        met = super().meets(method, path)
        for one in self.written.glob("*.journal") if met else ():
            then_s = one.stat().st_mtime - self.after_s
            os.utime(one, (then_s, then_s))
        return met


@pytest.mark.long
@pytest.mark.parametrize("after_s", [0.0, 59.9])
def test_a_server_that_is_made_after_a_gateway_has_given_up_is_removed_whenever_that_was(
    after_s: float, played: Playing, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = "/compute/v2.1/servers/detail"
    not_yet = Fault("GET", listed, change=lambda _: {"servers": []}, times=5)
    faults = [Late("POST", SERVERS, status=504, after_s=after_s, written=journals), not_yet]
    with played("healthcheck", case="singlevm1", faults=faults) as cloud:
        for limit in ("UNSURE_S", "LIMIT_S"):
            monkeypatch.setattr(removal, limit, 60.0)
        made = made_without_an_answer(cloud.replay, SERVERS)
        found = cloud.case()
    assert (found.outcome, found.not_removed) == ("failed", None)
    assert (not_yet.met, looks(cloud.replay, listed)) == (5, 6)
    assert made <= cloud.replay.removed
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


@pytest.mark.long
def test_a_server_that_may_still_come_is_looked_for_in_a_project_that_is_gone(
    played: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [Fault("POST", SERVERS, status=504)]
    with played("healthcheck", case="singlevm2", faults=faults, limit_s=60.0) as cloud:
        monkeypatch.setattr(removal, "UNSURE_S", 2.0)
        monkeypatch.setattr(removal, "LIMIT_S", 60.0)
        found = cloud.case()
    assert "make server vm: " in (found.why or "")
    assert found.not_removed is None
    asked = cloud.replay.requests
    gone = next(n for n, (method, path) in enumerate(asked) if method == "DELETE" and "/projects/" in path)
    later = [path for _, path in asked[gone:] if path.startswith("/compute/v2.1/servers/detail?")]
    assert later
    assert all("all_tenants=True" in path for path in later)


def test_what_a_service_itself_failed_to_make_is_looked_for_twice(
    played: Playing, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with played("healthcheck", case="tenantnetwork1", faults=[Fault("POST", NETWORKS, status=500)]) as cloud:
        monkeypatch.setattr(removal, "UNSURE_S", 60.0)
        found = cloud.case()
    assert (found.outcome, found.not_removed) == ("failed", None)
    assert looks(cloud.replay, "/network/v2.0/networks") == 2
    assert list(journals.iterdir()) == []


def test_what_an_old_journal_announces_is_on_its_way_no_more(
    played: Playing, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with played("healthcheck", case="tenantnetwork1") as cloud:
        monkeypatch.setattr(removal, "UNSURE_S", 60.0)
        journal = Journal.begin("c0ffee", {})
        journal.announce("network", f"{journal.tag}-network")
        os.utime(journal.path, (0, 0))
        removal.remove(cloud.driver._connected(), journal)
    assert looks(cloud.replay, "/network/v2.0/networks") == 2
    assert list(journals.iterdir()) == []


def test_all_is_removed_though_the_journal_cannot_be_written_any_more(
    played: Playing, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Journal._write

    def full(journal: Journal, record: dict[str, Any]) -> None:
        if "gone" in record:
            raise FabricError(f"cannot write {journal.path}: No space left on device")
        write(journal, record)

    monkeypatch.setattr(Journal, "_write", full)
    with played("healthcheck", case="tenantnetwork1") as cloud:
        found = cloud.case()
    assert (found.outcome, found.why, found.not_removed) == ("passed", None, None)
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []
