# SPDX-License-Identifier: Apache-2.0
"""`weir fleet plan`: what it prints, writes and ends with."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli import exits
from weir.cli.main import app
from weir.planning.fleet import command as fleet
from weir.planning.fleet.search import Standing
from weir.results.fleet_placement import Placement

runner = CliRunner()
FLEET = """\
weir: 1
name: small
hosts:
  h: {count: 3, numa: [{cores: 8, memory_gb: 32, link_gbps: 25}]}
chains:
  a: {count: 4, cores: 4, memory_gb: 1}
"""
TOO_MUCH = FLEET + "  b: {count: 2, cores: 9}\n"


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "fleet.yml"
    path.write_text(text)
    return str(path)


def test_a_fleet_that_fits_is_summed_up_with_what_is_proved(tmp_path: Path) -> None:
    done = runner.invoke(app, ["fleet", "plan", written(tmp_path, FLEET)])
    assert done.exit_code == 0
    assert done.stdout.startswith(
        "small: 4 of 4 chains placed on 2 hosts, cost 2\n"
        "proved: no placement of them costs less than 2: gap 0.00%\n"
    )


def test_chains_without_a_place_are_named_with_the_reason_and_end_with_1(tmp_path: Path) -> None:
    done = runner.invoke(app, ["fleet", "plan", written(tmp_path, TOO_MUCH)])
    assert done.exit_code == exits.FAILED
    assert "proved: no placement has more of them" in done.stdout
    assert (
        "– b: 2 of 2, for lack of cores: it needs 9 cores, and an empty NUMA node has 8 cores at most"
        in done.stdout
    )


def test_one_chain_is_one_and_without_a_host_in_use_there_is_no_table_of_them(tmp_path: Path) -> None:
    alone = FLEET.replace("a: {count: 4, cores: 4, memory_gb: 1}", "b: {count: 1, cores: 9}")
    done = runner.invoke(app, ["fleet", "plan", written(tmp_path, alone)])
    assert done.exit_code == exits.FAILED
    assert done.stdout.startswith("small: 0 of 1 chain placed on 0 hosts, cost 0\n")
    assert "\nno host is in use\n\nwithout a place: 1 chain\n" in done.stdout
    assert "on the hosts in use" not in done.stdout
    one = FLEET.replace("count: 4, cores: 4", "count: 1, cores: 4")
    assert (
        "1 of 1 chain placed on 1 host, cost 1"
        in runner.invoke(app, ["fleet", "plan", written(tmp_path, one)]).stdout
    )


def test_a_key_of_numa_nodes_at_a_host_is_told_its_place(tmp_path: Path) -> None:
    text = FLEET.replace("{count: 3, numa", "{count: 3, cores: 8, numa")
    done = runner.invoke(app, ["fleet", "plan", written(tmp_path, text)])
    assert done.exit_code == exits.USAGE
    assert "hosts.h.cores: unknown key; it is a key of `numa`" in done.stderr
    assert "cost?" not in done.stderr


def test_json_and_out_are_the_same_document(tmp_path: Path) -> None:
    out = tmp_path / "placement.json"
    command = ["fleet", "plan", written(tmp_path, TOO_MUCH), "--json", "--output", str(out)]
    done = runner.invoke(app, command)
    assert done.stdout == out.read_text()
    placement = Placement.model_validate_json(done.stdout)
    assert (placement.placed, placement.placed_bound, placement.chains) == (4, 4, 6)
    assert [(one.chain, one.binds) for one in placement.unplaced] == [("b", "cores")]
    assert json.loads(done.stdout)["hosts"][0]["nodes"][0]["chains"] == {"a": [1, 2]}


def test_a_bad_fleet_ends_with_2_and_its_line(tmp_path: Path) -> None:
    done = runner.invoke(app, ["fleet", "plan", written(tmp_path, FLEET.replace("cores: 4", "cores: x"))])
    assert done.exit_code == exits.USAGE
    assert "fleet.yml:6:17: chains.a.cores: is 'x'; expected a whole number" in done.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--output", "/nowhere/at/all.json"], "there is no directory /nowhere/at"),
        (["--cores", "4"], "No such option: --cores"),
    ],
)
def test_options_that_cannot_be_met_are_refused_at_once(tmp_path: Path, more: list[str], said: str) -> None:
    done = runner.invoke(app, ["fleet", "plan", written(tmp_path, FLEET), *more])
    assert done.exit_code == exits.USAGE
    assert said in done.stderr


def test_a_ctrl_c_that_it_was_started_to_ignore_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = str(Path(__file__).parents[4] / "labs" / "fleet")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    monkeypatch.setattr(fleet.Progress, "show", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        done = runner.invoke(app, ["fleet", "plan", lab, "--time-limit", "1"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted" not in done.stdout
    assert done.exit_code != exits.INTERRUPTED


def test_ctrl_c_prints_the_best_so_far_and_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = str(Path(__file__).parents[4] / "labs" / "fleet")
    before = signal.getsignal(signal.SIGINT)
    pressed: list[Standing] = []

    def press(_: fleet.Progress, standing: Standing) -> None:
        if not pressed:
            os.kill(os.getpid(), signal.SIGINT)
        pressed.append(standing)

    monkeypatch.setattr(fleet.Progress, "show", press)
    done = runner.invoke(app, ["fleet", "plan", lab, "--gap", "0", "--time-limit", "30"])
    assert done.exit_code == exits.INTERRUPTED
    assert "interrupted: the best so far" in done.stdout
    assert "ends with the best placement so far" in done.stderr
    assert signal.getsignal(signal.SIGINT) is before
