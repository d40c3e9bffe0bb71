# SPDX-License-Identifier: Apache-2.0
"""`weir explain`: text in 80 columns, JSON as its schema says, and errors that help."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from tests.report.hostile import hostile
from tests.report.synthetic import result
from tests.unit.explain.made import area, machine, the_tester, topology, trial
from weir.cli import exits
from weir.cli.main import app
from weir.lab.frames import SIMPLE_IMIX
from weir.results.explanation import Explanation, schema
from weir.results.result import Case, Result, Setup
from weir.store.store import Store

runner = CliRunner()


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A result.json with one chain that nat limits."""
    areas = [*the_tester(), area("f1", 0.98, {"nat": 600_000_000}), area("f2", 0.5, {"acl": 250_000_000})]
    judged = trial(areas, {("tester.left", "tx_queue_full"): 300_000})
    case = Case(frame="64", mean_frame_bytes=64, curve=[judged])
    setup = Setup(technology="direct", chain="PVVP", datapath="none", topology=topology(), cases=[case])
    path = tmp_path / "result.json"
    path.write_text(result(setups=[setup], fingerprint=machine()).model_dump_json())
    return str(path)


def said(*arguments: str) -> str:
    done = runner.invoke(app, ["explain", *arguments])
    assert done.exit_code == exits.OK, done.output
    return done.stdout


def test_the_text_has_verdict_evidence_what_is_next_and_what_helps_in_80_columns(run: str) -> None:
    shown = said(run)
    heads = ("Limited by: f1/nat (stage)", "Evidence", "Next: f2", "What can help")
    assert sorted(heads, key=shown.index) == list(heads)
    assert "lost at tester.left" in shown
    assert "lowers f_t" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_json_is_what_the_schema_says(run: str) -> None:
    document = json.loads(said(run, "--json"))
    jsonschema.validate(document, schema())
    (case,) = Explanation.model_validate(document).cases
    assert (case.limit.kind, case.limit.name, case.limit.core) == ("stage", "f1/nat", 1)


def test_many_cases_get_a_sentence_each_and_one_of_them_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(result().model_dump_json())
    every = said(str(path))
    assert "What can help" not in every
    assert "Name one with --technology" in every
    assert said(str(path), "--technology", "direct", "--chain", "PVP", "--frame", "64").count("PVP") == 1


@pytest.mark.parametrize("asked", ["imix", "IMIX", SIMPLE_IMIX])
def test_a_mix_is_asked_for_and_named_as_the_lab_says_it(run: str, asked: str) -> None:
    document = json.loads(Path(run).read_text())
    document["setups"][0]["cases"][0]["frame"] = SIMPLE_IMIX
    Path(run).write_text(json.dumps(document))
    assert "direct PVVP, frame IMIX" in said(run, "--variant", "direct", "--frame", asked)
    done = runner.invoke(app, ["explain", run, "--frame", "64"])
    assert "has no such case; it has direct PVVP IMIX" in done.stderr


def test_a_mix_with_sizes_of_its_own_is_asked_for_in_both_forms(run: str) -> None:
    document = json.loads(Path(run).read_text())
    document["setups"][0]["cases"][0]["frame"] = "imix:aaA:A=570"
    Path(run).write_text(json.dumps(document))
    for asked in ("imix:aaA:A=570", "IMIX(aaA, A=570)"):
        assert "direct PVVP, frame IMIX a2A A=570" in said(run, "--frame", asked)


def test_what_cannot_be_told_is_said_with_the_reason_and_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(result().model_dump_json())
    shown = said(str(path), "--technology", "ovs-dpdk", "--chain", "PVP", "--frame", "64")
    assert "Cannot tell: no trial of it has a ledger of its areas" in shown


def test_a_case_that_is_not_there_is_answered_with_those_that_are(run: str) -> None:
    done = runner.invoke(app, ["explain", run, "--chain", "PVP"])
    assert done.exit_code == exits.USAGE
    assert "has no such case; it has direct PVVP 64" in done.stderr


@pytest.mark.parametrize("wrong", ["nowhere/result.json", "no-such-run"])
def test_a_run_that_is_not_there_is_wrong_usage(wrong: str, tmp_path: Path) -> None:
    store = str(tmp_path / "empty.db")
    Store(store).close()
    done = runner.invoke(app, ["explain", wrong, "--store", store])
    assert done.exit_code == exits.USAGE
    assert wrong in done.stderr


STEERING = "\x1b]0;owned\x07\x1b[2J"


@pytest.mark.parametrize("command", ["explain", "report"])
def test_names_in_a_result_do_not_steer_the_terminal(
    command: str, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Result.read(Path(run).read_bytes())
    made.id = "imported"
    evil = hostile(made, STEERING)
    evil.started_at = made.started_at
    Path(run).write_text(evil.model_dump_json())
    done = runner.invoke(app, [command, run])
    assert done.exit_code == exits.OK, done.output
    assert "\x1b" not in done.output
    assert "\\x1b]0;owned" in done.output
