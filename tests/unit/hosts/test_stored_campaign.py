# SPDX-License-Identifier: Apache-2.0
"""Runs of one campaign over several hosts are known as such in the store, in lists and by their host."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.store.made import run as bare_run
from tests.waiting_hosts.campaign import CAMPAIGN, Told, stored, wanted
from tests.waiting_hosts.host import WEIR, WaitingHost
from tests.waiting_hosts.in_process import WaitingHosts
from weir.cli.main import app
from weir.procedures.across_hosts import AcrossHosts
from weir.report.hosts import campaign
from weir.store.store import Store

OVS, BRIDGE = ("ovs", "PVP"), ("bridge", "PVP")
ALONE = "alone-1"
runner = CliRunner()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of five rounds: `a` dies at its second point, no host has ovs; and a run of one machine."""
    path = tmp_path_factory.mktemp("campaign") / "results.db"
    refused = {OVS: "no ovs"}
    hosts = {
        "a": WaitingHost([OVS, BRIDGE], refused=refused, dies_at=2),
        "b": WaitingHost([OVS, BRIDGE], refused=refused),
    }
    with Store(path) as store:
        store.begin(bare_run(ALONE))
        AcrossHosts(wanted(5, [OVS, BRIDGE]), WaitingHosts(hosts), store, Told(), WEIR).run()
    return path


@pytest.fixture
def place(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(measured, tmp_path))


def said(*words: str, of: Path) -> str:
    done = runner.invoke(app, [*words, "--store", str(of)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_each_line_of_the_list_says_of_which_campaign_its_run_is_and_what_that_lacks(place: Path) -> None:
    *of_campaign, alone = said("ls", of=place).splitlines()
    assert len(of_campaign) == 2
    assert all(f"  {CAMPAIGN}  " in line for line in of_campaign)
    went_on, died = of_campaign
    assert went_on.endswith("5 points of its campaign left out")
    assert died.endswith("interrupted")
    assert CAMPAIGN not in alone
    assert [one["campaign"] for one in json.loads(said("ls", "--json", of=place))] == [CAMPAIGN] * 2 + [None]


def test_a_campaign_is_selected_by_its_id(place: Path) -> None:
    found = json.loads(said("ls", "--campaign", CAMPAIGN, "--json", of=place))
    assert {one["id"][:2] for one in found} == {"a-", "b-"}
    assert said("ls", "--campaign", "another", of=place) == ""
    assert said("tag", "both", "--campaign", CAMPAIGN, of=place) == "2 runs have both\n"
    assert said("rm", "--campaign", CAMPAIGN, "--yes", of=place).endswith("2 runs removed\n")
    assert [one["id"] for one in json.loads(said("ls", "--json", of=place))] == [ALONE]


def test_a_run_is_shown_with_the_others_of_its_campaign_and_with_what_nobody_measured(place: Path) -> None:
    with Store(place, reading=True) as store:
        first, second = stored(store)
    shown = said("show", first.id, of=place).splitlines()
    assert f"campaign  {CAMPAIGN}: 5 of 10 points measured" in shown
    assert f"          a  {first.id}  1 point, interrupted" in shown
    assert f"          b  {second.id}  4 points, finished" in shown
    assert "left out  PVP ovs 64: 5 of 5 rounds" in shown
    found = json.loads(said("show", second.id, "--json", of=place))
    assert found["campaign"]["id"] == CAMPAIGN
    assert [(one["host"], one["points"]) for one in found["campaign"]["runs"]] == [("a", 1), ("b", 4)]
    assert found["left_out"] == [{"name": "ovs", "chain": "PVP", "frame": "64", "measured": 0, "left_out": 5}]
    alone = json.loads(said("show", ALONE, "--json", of=place))
    assert (alone["campaign"], alone["left_out"]) == (None, [])


def test_rounds_of_a_case_are_counted_host_by_host(place: Path) -> None:
    with Store(place, reading=True) as store:
        runs = store.runs_of_campaign(CAMPAIGN, trials=False)
    found = campaign(runs)
    assert (found.points, found.measured, found.rounds, found.ended) == (10, 5, 5, True)
    cases = {
        (one.way, one.frame): ([share.rounds for share in one.shares], one.missing) for one in found.cases
    }
    assert cases == {("bridge", "64"): ([1, 4], 0), ("ovs", "64"): ([0, 0], 5)}


def test_a_round_that_two_hosts_have_counts_once(place: Path) -> None:
    with Store(place, reading=True) as store:
        runs = store.runs_of_campaign(CAMPAIGN, trials=False)
    again = runs[1].model_copy(deep=True)
    again.id = "c-1"
    found = campaign([*runs, again])
    assert found.measured == 5
    assert [one.points for one in found.parts] == [1, 4, 4]


def test_runs_of_a_store_of_before_are_known_by_their_documents(place: Path) -> None:
    with sqlite3.connect(place) as connection:
        connection.executescript(
            "DROP INDEX ix_weir_run_campaign; ALTER TABLE weir_run DROP COLUMN campaign;"
            "ALTER TABLE weir_run DROP COLUMN spec_sha256;"
            "ALTER TABLE weir_figure DROP COLUMN disturbed;"
            "ALTER TABLE weir_figure DROP COLUMN lab_bound;"
            "UPDATE weir_schema SET version = 4"
        )
    connection.close()
    with Store(place) as store:
        runs = store.runs_of_campaign(CAMPAIGN)
        assert [run.id[:2] for run in runs] == ["a-", "b-"]
        shared = [run.campaign and run.campaign.shared for run in (*runs, store.load(ALONE))]
        assert [one and one.id for one in shared] == [CAMPAIGN, CAMPAIGN, None]
