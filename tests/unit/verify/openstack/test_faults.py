# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with a cloud: the case fails with the cause, in its time, and all it made is removed."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from weir.report.blocks import new_console
from weir.verify.drivers.openstack import OpenStackDriver
from weir.verify.drivers.openstack.answers import ANSWER_BYTES_MAX
from weir.verify.report.junit import junit
from weir.verify.report.page import page
from weir.verify.report.text import show

from .conftest import Playing, sleep
from .exchange import Exchange
from .replay import Change, Fault, Replay
from .test_healthcheck import standing

NETWORKS, PORTS, SERVERS = "/network/v2.0/networks$", "/network/v2.0/ports$", "/compute/v2.1/servers$"
SERVER = "/compute/v2.1/servers/[0-9a-f-]+$"
BROKEN = {"error": {"code": 500, "message": "The server has failed."}}
QUOTA = {
    "forbidden": {"code": 403, "message": "Quota exceeded for cores: Requested 1, but already used 20 of 20"}
}
POOL = {
    "NeutronError": {
        "type": "IpAddressGenerationFailure", "detail": "",
        "message": "No more IP addresses available on network 1.",
    }
}  # fmt: skip


def gone_wrong(said: Any) -> Any:
    """A server that no host could take."""
    fault = {"code": 500, "message": "No valid host was found. There are not enough hosts available."}
    return _while_it_is_there(said, {"status": "ERROR", "fault": fault})


def building(said: Any) -> Any:
    """A server that never gets ready."""
    return _while_it_is_there(said, {"status": "BUILD"})


def _while_it_is_there(said: Any, other: dict[str, Any]) -> Any:
    gone = said["server"]["status"] == "DELETED"
    return said if gone else {"server": said["server"] | other}


def with_addresses(fixed_ips: object) -> Change:
    """A port that has these."""
    return lambda said: {"port": said["port"] | {"fixed_ips": fixed_ips}}


def gone_wrong_in_a_word(said: Any) -> Any:
    """Where the fault has no fields."""
    return _while_it_is_there(said, {"status": "ERROR", "fault": "No host"})


UNADDRESSED = "gave the port of server vm no address$"
FAULTS = {
    "a service fails": (Fault("POST", NETWORKS, status=500, said=BROKEN), "network own-network: HTTP 500"),
    "a gateway is in the way": (Fault("POST", NETWORKS, status=502, said=None), "own-network: .*502"),
    "no answer comes": (Fault("POST", PORTS, silent=True), "make port vm-port: .*timed out"),
    "an answer has no end": (
        Fault("POST", PORTS, slow=True), "make port vm-port: its answer has not ended within",
    ),
    "the connection is cut": (Fault("POST", PORTS, reset=True), "make port vm-port: "),
    "an answer is no JSON": (Fault("POST", NETWORKS, text="<html>busy</html>"), "make network own-network: "),
    "an answer is nested without end": (
        Fault("POST", NETWORKS, text="[" * 200_000), "make network own-network: an answer that makes no",
    ),
    "an answer is too long": (
        Fault("POST", NETWORKS, text=" " * (ANSWER_BYTES_MAX + 1)),
        "make network own-network: .*its answer is longer than 64 MiB",
    ),
    "an answer is other JSON": (Fault("POST", NETWORKS, text="[1, 2]"), "make network own-network: "),
    "an answer has nothing in it": (
        Fault("POST", NETWORKS, change=lambda _: {"network": None}), "make network own-network: ",
    ),
    "a quota is used up": (Fault("POST", SERVERS, status=403, said=QUOTA), "Quota exceeded for cores"),
    "floating addresses are used up": (
        Fault("POST", "/network/v2.0/floatingips$", status=409, said=POOL), "No more IP addresses available",
    ),
    "a server goes to error": (
        Fault("GET", SERVER, change=gone_wrong), "server vm went to error: No valid host was found",
    ),
    "a server does not get ready": (Fault("GET", SERVER, change=building), "vm is still build after"),
    "a server is gone": (
        Fault("GET", SERVER, status=404, said={"itemNotFound": {"message": "gone", "code": 404}}),
        "server vm is gone, though nobody removed it",
    ),
    "a server goes to error in a word": (
        Fault("GET", SERVER, change=gone_wrong_in_a_word), "server vm went to error: No host",
    ),
    "a port has no address": (Fault("POST", PORTS, change=with_addresses([])), UNADDRESSED),
    "a port has a subnet and no address": (
        Fault("POST", PORTS, change=with_addresses([{"subnet_id": "7"}])), UNADDRESSED,
    ),
    "a port's address is null": (Fault("POST", PORTS, change=with_addresses([None])), UNADDRESSED),
    "a floating address has none": (
        Fault(
            "POST", "/network/v2.0/floatingips$",
            change=lambda said: {"floatingip": said["floatingip"] | {"floating_ip_address": None}},
        ),
        "gave server vm no floating address$",
    ),
    "a service does not tell its versions": (
        Fault("GET", "/image$", status=503), "^look for image weir-tiny: .*not have any supported versions",
    ),
    "the versions of a service have no end": (
        Fault("GET", "/image$", slow=True), "^look for image weir-tiny: its answer has not ended within",
    ),
    "an image is not there": (Fault("GET", "/image/v2/images", status=404, said={}), "image weir-tiny"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_fails_the_case_with_its_cause_in_its_time_and_all_is_removed(
    what: str, played: Playing, journals: Path
) -> None:
    fault, why = FAULTS[what]
    limit_s = 2.0 if fault.silent or fault.change is building else 4.0 if fault.slow else 20.0
    fault.met = 0
    began = time.monotonic()
    with played("healthcheck", case="singlevm1", faults=[fault], limit_s=limit_s) as cloud:
        if fault.change is not None and fault.path == NETWORKS:
            made_without_an_answer(cloud.replay, NETWORKS)
        found = cloud.case()
        took_s = time.monotonic() - began
    assert fault.met
    assert found.outcome == "failed"
    assert re.search(why, found.why or ""), found.why
    assert found.seconds < limit_s + (3 if fault.slow else 1)
    assert took_s < limit_s + 10
    assert "not removed" not in (found.why or "")
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


SAID = {
    "that steers a terminal": r"\u001b]0;owned\u0007\u001b[31mred\nand more",
    "with half a character": r"\ud800 and more",
    "with brackets": "[/b] and more",
    "that is long": "and more" + "a" * 200_000,
}


@pytest.mark.parametrize("what", SAID)
def test_whatever_a_cloud_says_can_be_shown_and_written(what: str, played: Playing) -> None:
    error = f'{{"error": {{"code": 500, "message": "{SAID[what]}"}}}}'
    fault = Fault("POST", NETWORKS, text=error, status=500)
    with played("healthcheck", case="tenantnetwork1", faults=[fault]) as cloud:
        found = cloud.run()
    shown = io.StringIO()
    show(found, new_console(shown))
    assert "and more" in (found.suites[0].cases[0].why or "")
    for text in (shown.getvalue(), junit(found), page(found), found.model_dump_json()):
        assert "\x1b" not in text
        assert len(text.encode()) < 100_000


@pytest.mark.long
def test_a_removal_that_is_refused_at_first_is_asked_for_again(played: Playing, journals: Path) -> None:
    faults = [
        Fault("DELETE", SERVER, status=500, said=BROKEN, times=2),
        Fault("DELETE", "/network/v2.0/networks/", status=409, said=POOL, times=1),
    ]
    with played("healthcheck", case="singlevm1", faults=faults) as cloud:
        found = cloud.case()
    assert (found.outcome, found.not_removed) == ("passed", None)
    assert [one.met for one in faults] == [2, 1]
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


@pytest.mark.long
def test_what_cannot_be_removed_is_told_and_the_next_run_removes_it(
    played: Playing, journals: Path, tmp_path: Path
) -> None:
    fault = Fault("DELETE", "/network/v2.0/routers/", status=409, said=POOL)
    with played("healthcheck", case="tenantnetwork1", faults=[fault]) as cloud:
        found = cloud.case()
        assert found.outcome == "failed"
        assert "router weir-c0ffee000001-own-router" in (found.not_removed or "")
        assert len(list(journals.glob("*.journal"))) == 1
        assert standing(cloud.replay)
        fault.times = 0
        OpenStackDriver(cloud.file, tmp_path).require()
        assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


KILLED = """import sys
from pathlib import Path
from tests.unit.verify.openstack import scenario
from weir.lab.sut import SutFile
from weir.verify.drivers.openstack import OpenStackDriver
file = SutFile.model_validate_json(sys.argv[1])
driver = OpenStackDriver(file, Path(sys.argv[2]), scenario.counted())
scenario.run(scenario.Scenario(cases=("singlevm1",)), driver, file)
"""


@pytest.mark.long
@pytest.mark.parametrize("at", [NETWORKS, PORTS, SERVERS])
def test_what_a_killed_run_leaves_the_next_one_removes(
    at: str, played: Playing, journals: Path, tmp_path: Path
) -> None:
    """Killed while the cloud has a request and has not answered: whether it was made nobody has told."""
    stuck = Fault("POST", at, silent=True)
    with played("healthcheck", case="singlevm1", faults=[stuck]) as cloud:
        argv = [sys.executable, "-c", KILLED, cloud.file.model_dump_json(), str(tmp_path)]
        run = subprocess.Popen(argv, cwd=Path(__file__).parents[4])
        deadline = time.monotonic() + 30
        while not stuck.met:
            assert time.monotonic() < deadline
            sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        (left,) = journals.glob("*.journal")
        made_unknown = made_without_an_answer(cloud.replay, at)
        stuck.times = 0
        OpenStackDriver(cloud.file, tmp_path).require()
        assert not left.exists()
        assert made_unknown <= cloud.replay.removed
        assert standing(cloud.replay) == set()


def made_without_an_answer(replay: Replay, at: str) -> set[str]:
    """The cloud made it all the same: from now on it is in the list of its name, as it was recorded."""
    (recorded,) = [one for one in replay.exchanges if one.method == "POST" and re.match(at, one.path)][:1]
    ((kind, what),) = recorded.said.items()
    listed = recorded.sent[kind] | {"description": recorded.sent[kind].get("description", "")} | what
    plural, path = f"{kind}s", recorded.path
    query = f"{path}?name={recorded.sent[kind]['name']}"
    if kind == "server":
        query = f"{path}/detail?name={recorded.sent[kind]['name']}"
        listed |= {"name": recorded.sent[kind]["name"], "status": "ACTIVE"}
    replay.exchanges = [
        *replay.exchanges,
        Exchange(method="GET", path=query, status=200, said={plural: [listed]}),
    ]
    return {str(what["id"])}


def test_look_alikes_of_the_same_name_stay_where_they_are_not_described_as_weirs(
    played: Playing, journals: Path
) -> None:
    stuck = Fault("POST", NETWORKS, reset=True)
    with played("healthcheck", case="tenantnetwork1", faults=[stuck]) as cloud:
        name = "weir-c0ffee000001-own-network"
        other = {"id": "0" * 32, "name": name, "description": "somebody else's", "status": "ACTIVE"}
        listed = Exchange(
            method="GET", path=f"/network/v2.0/networks?name={name}", status=200, said={"networks": [other]}
        )
        cloud.replay.exchanges = [*cloud.replay.exchanges, listed]
        found = cloud.case()
        assert found.outcome == "failed"
    assert ("GET", listed.path) in cloud.replay.requests
    assert not [path for method, path in cloud.replay.requests if method == "DELETE" and "0" * 32 in path]
    assert list(journals.iterdir()) == []


@pytest.mark.long
def test_ctrl_c_takes_down_what_stands(
    played: Playing, monkeypatch: pytest.MonkeyPatch, journals: Path
) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    from weir.fabric.cloud.system import ssh

    with played("healthcheck", case="singlevm1") as cloud:
        monkeypatch.setattr(ssh, "said", interrupted)
        found = cloud.run()
    assert found.interrupted
    assert found.suites[0].cases[0].not_removed is None
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


@pytest.mark.parametrize("damage", ["of another Weir", "is damaged"])
def test_a_journal_that_this_weir_cannot_read_stays_and_is_told(
    damage: str, played: Playing, journals: Path
) -> None:
    with played("healthcheck", case="tenantnetwork1") as cloud:
        cloud.driver.require()
        head = {"cloud": cloud.driver._identity(cloud.driver._connected()), "version": 99}
        first = json.dumps(head) if damage == "of another Weir" else "\0\0"
        journals.mkdir(exist_ok=True)
        path = journals / "dd.journal"
        path.write_text(f'{first}\n{{"make": "hologram", "name": "weir-dd-hologram"}}\n')
        found = cloud.run()
    assert found.suites[0].cases[0].outcome == "passed"
    (told,) = [one for one in found.fidelity if str(path) in one]
    assert damage in told
    assert [one.name for one in journals.iterdir()] == ["dd.journal"]
