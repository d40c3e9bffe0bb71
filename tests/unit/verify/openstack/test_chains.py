# SPDX-License-Identifier: Apache-2.0
"""Chains of an OpenStack cloud, as a real one answered when they were built (OpenStack Zed, emulated
servers); what they carry is a simulated device's."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from weir.cli.main import app
from weir.lab.sut import SutFile
from weir.verify.drivers.openstack import OpenStackDriver
from weir.verify.drivers.openstack.chain_script import FAILED
from weir.verify.suites import SUITES

from . import exchange, scenario
from .conftest import Playing
from .exchange import Exchange
from .made_attached import CAPACITY_PPS
from .replay import Fault
from .test_healthcheck import changed, standing

PORTS, SERVERS = "/network/v2.0/ports", "/compute/v2.1/servers"
CONSOLE = r"/compute/v2\.1/servers/[0-9a-f-]+/action$"
TESTER_MAC = "02:57:ee:00:00:01"
"""Of the first stack of a recording."""


def sent(name: str, path: str, key: str) -> list[dict[str, Any]]:
    """Bodies of the requests that made something, in their order."""
    return [one.sent[key] for one in exchange.read(name) if (one.method, one.path) == ("POST", path)]


@pytest.mark.long
def test_chains_are_built_measured_and_taken_down_and_nothing_else_is_changed(
    played: Playing, journals: Path
) -> None:
    with played("chains") as cloud:
        cases = {one.name: one for one in cloud.run().suites[0].cases}
    assert {name: (one.outcome, one.why, one.not_removed) for name, one in cases.items()} == dict.fromkeys(
        ("pvp_generic", "pvvp_unfiltered"), ("passed", None, None)
    )
    assert cloud.replay.strange == []
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []
    assert changed(cloud.replay) <= cloud.replay.made
    assert (cloud.tester.attached, cloud.tester.sessions) == (0, 0)
    assert set(cloud.tester.interfaces) == {scenario.INTERFACE}
    assert cloud.tester.topologies[0].ports[0].mac == TESTER_MAC


@pytest.mark.long
def test_what_is_lost_is_named_by_what_can_be_seen_from_outside(played: Playing) -> None:
    with played("chains", case="pvvp_unfiltered") as cloud:
        (load,) = cloud.case().chains
    (rate,) = load.case.throughput
    assert rate.load_pps == pytest.approx(CAPACITY_PPS, rel=0.06)
    ledger = load.ledger()
    assert ledger.residual == 0
    assert {(one.place, one.reason) for one in ledger.lost} == {("vnf1", "not_forwarded")}
    assert ledger.offered - ledger.delivered == sum(one.packets for one in ledger.lost) > 0
    assert any("Of vnf1 and vnf2 the port's counters were read by SSH" in one for one in load.fidelity)


@pytest.mark.long
def test_without_their_counters_losses_are_the_clouds(played: Playing) -> None:
    with played("chains", case="pvp_generic") as cloud:
        cloud.tester.counters = False
        (load,) = cloud.case().chains
    assert {(one.place, one.reason) for one in load.ledger().lost} == {
        ("cloud:tester-tester", "not_returned")
    }
    assert any(one.startswith("Nothing was read of vnf1") for one in load.fidelity)


def test_ports_may_send_in_the_names_of_the_testers_packets_or_have_no_filters() -> None:
    ports = [one for one in sent("chains", PORTS, "port") if one["name"].endswith("-chain-port")]
    filtered = [one for one in ports if "allowed_address_pairs" in one]
    assert [one["name"][-16:] for one in filtered] == ["-vnf1-chain-port"]
    assert {one["allowed_address_pairs"][0]["ip_address"] for one in filtered} == {"198.18.0.0/16"}
    assert all(len(one["security_groups"]) == 1 for one in filtered)
    assert [one["port_security_enabled"] for one in ports if one not in filtered] == [False] * 2


def test_each_server_sends_on_to_the_next_one_and_the_last_to_the_tester() -> None:
    made = {one.said["port"]["name"]: one.said["port"]["mac_address"] for one in made_ports("chains")}
    told = {}
    for server in sent("chains", SERVERS, "server"):
        text = base64.b64decode(server["user_data"]).decode()
        told[server["name"]] = re.findall(r'" = (\S+) \]|lladdr (\S+)', text)
    for name, found in told.items():
        (own, _), (_, following) = found
        tag, _, vnf = name.rpartition("-")
        assert own == made[f"{name}-chain-port"]
        after = made.get(f"{tag}-vnf2-chain-port") if vnf == "vnf1" else None
        assert following == (after or f"02:57:ee:00:00:{tag[-2:]}")
    assert len(told) == 3


def made_ports(name: str) -> list[Exchange]:
    return [one for one in exchange.read(name) if (one.method, one.path) == ("POST", PORTS)]


def test_a_user_who_does_not_own_the_network_has_chains_skipped_for_that_reason(played: Playing) -> None:
    with played("member-chain") as cloud:
        found = cloud.case()
    assert found.outcome == "skipped"
    assert "takes the owner of the tester's network, or an administrator" in (found.why or "")
    assert standing(cloud.replay) == set()


def said(text: str) -> Fault:
    return Fault("POST", CONSOLE, change=lambda _: {"output": f"boot\n{text}\n"})


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "limit_s", "why"),
    [
        (said(f"{FAILED}: no route to 198.19.0.1"), 20.0, "vnf1 does not forward: no route to 198.19.0.1$"),
        (
            said("login:"),
            6.0,
            r"vnf1 has not said that it forwards \(its console ends with 'boot \| login:'\)",
        ),
        (
            Fault("POST", f"{PORTS}$", status=409, said={"NeutronError": {"message": "No more IP"}}),
            20.0,
            "No more",
        ),
        (
            Fault("POST", f"{PORTS}$", change=lambda one: {"port": one["port"] | {"mac_address": None}}),
            20.0,
            "gave the port of vnf1 no MAC address$",
        ),
    ],
)
def test_a_server_that_does_not_get_ready_fails_the_case_with_the_cause_and_all_is_removed(
    fault: Fault, limit_s: float, why: str, played: Playing, journals: Path
) -> None:
    with played("chains", case="pvp_generic", faults=[fault], limit_s=limit_s) as cloud:
        found = cloud.case()
    assert found.outcome == "failed"
    assert re.search(why, found.why or ""), found.why
    assert cloud.tester.topologies == []
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []


@pytest.mark.long
def test_nothing_that_comes_back_is_the_cause_with_where_it_was_lost(played: Playing) -> None:
    with played("chains", case="pvp_generic") as cloud:
        cloud.tester.device.wrong.denied_share = 1.0
        found = cloud.case()
    assert found.outcome == "failed"
    assert "nothing that tester sends arrives" in (found.why or "")
    assert "at vnf1 (not_forwarded)" in (found.why or "")
    assert (cloud.tester.attached, cloud.tester.sessions) == (0, 0)
    assert standing(cloud.replay) == set()


def cases_of(driver: OpenStackDriver, file: SutFile) -> list[str | None]:
    return [one.lacks(driver) for one in SUITES["performance"].of(file).cases]


def test_a_file_without_the_testers_interface_has_all_cases_skipped_before_anything_is_asked(
    played: Playing, tmp_path: Path
) -> None:
    with played("member") as cloud:
        driver = OpenStackDriver(cloud.file, tmp_path)
        driver.require_tester()
        assert set(cases_of(driver, cloud.file)) == {
            "`openstack.chains.interface` of the file does not say how the tester reaches the cloud"
        }
        assert driver.chain_needs() == ()
        assert cloud.replay.requests == []


def test_a_dry_run_says_what_chains_take_and_which_technique_no_cloud_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "sut.yml").write_text(
        """weir: 1
name: some
driver: openstack
openstack: {cloud: a, external_network: b, image: c, flavor: d, chains: {interface: ens1f1, network: e}}
suites: performance
performance: {chains: PVP, techniques: [generic, ovs-conntrack]}
"""
    )
    done = CliRunner().invoke(app, ["verify", str(tmp_path), "--dry-run"])
    assert done.exit_code == 0
    for told in (
        "  needs root here, and interface ens1f1: up, at layer 2 of network e, which lets",
        "  needs the owner of network e, or an administrator",
        "  needs an image that runs a script at its start as root (user data, by cloud-init)",
        "  needs quotas for two servers",
        "  pvp_ovs-conntrack  skipped: OpenStack has no ovs-conntrack to be asked for",
        "nothing was run",
    ):
        assert told in done.output
