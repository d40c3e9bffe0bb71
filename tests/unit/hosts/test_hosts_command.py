# SPDX-License-Identifier: Apache-2.0
"""`weir run LAB --on …` as it is typed, over hosts that wait instead of measuring."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.waiting_hosts.host import WEIR, WaitingHost
from tests.waiting_hosts.in_process import WaitingHosts
from weir.base.error import FAILED, INTERRUPTED, OK, USAGE
from weir.cli.main import app
from weir.procedures.throughput import hosts_command
from weir.results.result import Result
from weir.store.store import Store

LAB = """
weir: 1
name: two
chain: PVP
technology: [direct, linux-bridge]
traffic: {frames: [64]}
measure: {rounds: 3, repeats: 1}
"""
SETUPS = [("direct", "PVP"), ("linux-bridge", "PVP")]


class Typed:
    """Commands of one lab and store."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.lab, self.store = folder / "lab.yml", folder / "results.db"
        self.lab.write_text(LAB)
        self.hosts = {name: WaitingHost(SETUPS) for name in "ab"}
        patch.setattr(hosts_command, "_connected", lambda _on: WaitingHosts(self.hosts))
        patch.setattr(hosts_command, "weir_version", lambda: WEIR)

    def run(self, *words: str, code: int = OK) -> str:
        place = ["--store", str(self.store), "--output", str(self.folder / "out"), "--on", "auto"]
        done = CliRunner().invoke(app, ["run", *words, *place])
        assert done.exit_code in ((OK, FAILED) if code == OK else (code,)), done.output  # FAILED: no rates
        return done.output

    def runs(self) -> list[Result]:
        with Store(str(self.store), reading=True) as store:
            newest = store.latest()
            assert newest is not None
            assert newest.campaign is not None
            assert newest.campaign.shared is not None
            return store.runs_of_campaign(newest.campaign.shared.id)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    return Typed(tmp_path, monkeypatch)


def test_a_budget_is_kept_by_every_hosts_run_and_hosts_are_told_what_is_left_of_it(typed: Typed) -> None:
    typed.run(str(typed.lab), "--budget", "1h")
    assert [one.campaign and one.campaign.budget_s for one in typed.runs()] == [3600.0, 3600.0]
    for host in typed.hosts.values():
        assert host.end is not None
        assert host.end.left_s is not None
        assert 3000 < host.end.left_s < 3600


def test_what_a_spent_budget_left_out_is_said_to_be_so_and_goes_on_with_more_of_it(typed: Typed) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weir.procedures.order.Budget.fits", lambda self, setup: not self._took_s)  # noqa: ARG005
        said = " ".join(typed.run(str(typed.lab), "--budget", "10s").split())
    assert (
        "of 6 points of the campaign over all hosts (a case in one round) were left out when the budget"
        in said
    )
    (run, *_) = typed.runs()
    assert f"go on: weir run --resume {run.id} --on auto --store {typed.store} --budget TIME" in said
    for one in typed.runs():
        with Store(str(typed.store)) as store:
            one.seconds = 10.0
            store.update(one)
    said = " ".join(typed.run("--resume", run.id, code=USAGE).split())
    assert "has used its budget" in said
    typed.hosts = {name: WaitingHost(SETUPS) for name in "ab"}
    typed.run("--resume", run.id, "--budget", "1h")
    assert [one.campaign and one.campaign.left_out for one in typed.runs()] == [[], []]
    assert {one.campaign and one.campaign.budget_s for one in typed.runs()} == {3610.0}


def test_a_dry_run_says_how_much_is_left_of_a_campaign_that_would_go_on(typed: Typed) -> None:
    typed.hosts = {"a": WaitingHost(SETUPS, dies_at=3)}
    ended = typed.run(str(typed.lab), code=INTERRUPTED)
    (run,) = typed.runs()
    assert f"Next: `weir run --resume {run.id} --on …` measures what was left out" in ended
    said = typed.run("--resume", run.id, "--dry-run")
    assert said == "6 points of 2 set-ups, of which 4 are left, on the hosts of auto\n"
    assert typed.run(str(typed.lab), "--dry-run") == "6 points of 2 set-ups, on the hosts of auto\n"
