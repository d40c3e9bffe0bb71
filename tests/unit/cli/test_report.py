# SPDX-License-Identifier: Apache-2.0
"""`weir report`: a stored run, written again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.report.synthetic import result
from weir.cli import exits
from weir.cli.main import app
from weir.report import FORMATS, formats, render
from weir.store.store import Store

OLD, NEW = "switching-20260101-000000-aaaa", "switching-20260202-000000-bbbb"
runner = CliRunner()


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Two runs, the second interrupted."""
    location = str(tmp_path / "results.db")
    with Store(location) as database:
        for run_id, interrupted in ((OLD, False), (NEW, True)):
            made = result(id=run_id, interrupted=interrupted)
            made.setups = [setup for setup in made.setups if setup.chain == "PVP"]
            for setup in made.setups:
                setup.cases = setup.cases[:1]
            database.begin(made)
            for setup in made.setups:
                database.add_setup(run_id, setup)
    return location


def said(*arguments: str, store: str) -> str:
    done = runner.invoke(app, ["report", *arguments, "--store", store])
    assert done.exit_code == 0, done.output
    return done.stdout


def refusal(*arguments: str, store: str) -> str:
    done = runner.invoke(app, ["report", *arguments, "--store", store])
    assert done.exit_code == exits.USAGE, done.output
    assert done.stdout == ""
    return done.stderr


def test_without_a_run_the_latest_is_shown_as_a_table(store: str) -> None:
    shown = said(store=store)
    assert NEW in shown
    assert "PVP, ratios to linux-bridge" in shown
    assert shown == said("latest", store=store) == said(NEW, "--format", "terminal", store=store)


def test_verbose_shows_and_writes_every_remark(store: str, tmp_path: Path) -> None:
    remark = "NDR: the highest load whose loss ratio is 0"
    assert remark not in said(store=store)
    shown = said("-v", store=store)
    assert remark in shown
    said("-v", "-o", str(tmp_path / "report.txt"), store=store)
    assert (tmp_path / "report.txt").read_text() == shown
    assert "html has everything anyway" in refusal("-v", "-f", "html", store=store)


def test_a_run_is_found_by_the_beginning_of_its_id(store: str) -> None:
    assert OLD in said("switching-202601", store=store)


def test_each_format_is_what_the_run_itself_would_have_written(store: str, tmp_path: Path) -> None:
    with Store(store) as database:
        loaded = database.load(OLD)
    for name, known in formats().items():
        if known.lacks(loaded):
            continue
        file = tmp_path / f"report{known.suffix}"
        assert said(OLD, "-o", str(file), store=store) == f"wrote {file}\n"
        with file.open(encoding="utf-8", newline="") as written:
            assert written.read() == render(loaded, name), name


def test_it_says_on_stderr_that_a_file_is_being_written_and_nothing_where_it_prints(
    store: str, tmp_path: Path
) -> None:
    place = str(tmp_path / "report.html")
    done = runner.invoke(app, ["report", "-o", place, "--store", store])
    assert (done.stderr, done.stdout) == ("writing the report ...\n", f"wrote {place}\n")
    assert runner.invoke(app, ["report", "--json", "--store", store]).stderr == ""


@pytest.mark.parametrize("name", ["percentiles", "hgrm", "hlog"])
def test_a_run_without_delays_gives_no_file_of_them_but_says_so(
    name: str, store: str, tmp_path: Path
) -> None:
    file = tmp_path / "delays"
    done = runner.invoke(app, ["report", OLD, "-f", name, "-o", str(file), "--store", store])
    assert (done.exit_code, file.exists()) == (1, False)
    assert f"run {OLD} cannot be shown as {name}: no valid trial of it kept a histogram" in done.stderr
    assert "`measure: {latency: {}}` measures them" in done.stderr


def test_a_run_without_procedures_of_rfc_2544_is_not_shown_as_one_that_found_nothing(store: str) -> None:
    done = runner.invoke(app, ["report", OLD, "-f", "rfc2544", "--store", store])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "it has no RFC 2544 procedures; `weir rfc2544 LAB` runs them" in done.stderr


def test_json_on_standard_output_is_the_result_alone(store: str) -> None:
    assert json.loads(said(OLD, "--format", "json", store=store))["id"] == OLD


def test_csv_on_standard_output_is_the_table_alone(store: str) -> None:
    assert {row["run"] for row in csv.DictReader(said(OLD, "-f", "csv", store=store).splitlines())} == {OLD}


def test_a_result_file_or_its_directory_needs_no_store(store: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(said(OLD, "-f", "json", store=store), encoding="utf-8")
    absent = str(tmp_path / "absent.db")
    assert OLD in said(str(file), store=absent)
    assert OLD in said(str(tmp_path), store=absent)
    assert not Path(absent).exists()


def test_the_list_has_a_command_of_its_own(store: str) -> None:
    assert refusal("--list", store=store) == "weir: `weir report --list` is now `weir ls`\n"


def test_a_run_is_machine_readable_on_demand(store: str) -> None:
    assert said(OLD, "--json", store=store) == said(OLD, "-f", "json", store=store)
    assert "contradict each other" in refusal(OLD, "--json", "-f", "csv", store=store)


def test_a_store_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent" / "results.db")
    for arguments in (["latest"], [OLD, "-o", str(tmp_path / "report.html")]):
        assert f"there is no store at {absent}; `weir run LAB` makes one" in refusal(*arguments, store=absent)
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_written_is_an_error_of_the_machine(store: str) -> None:
    done = runner.invoke(app, ["report", OLD, "-o", "/dev/full", "-f", "html", "--store", store])
    assert done.exit_code == exits.ENVIRONMENT
    said = done.stderr.removeprefix("writing the report ...\n")
    assert said == "weir: /dev/full: No space left on device; choose another place with --output\n"


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path) -> None:
    empty = str(tmp_path / "empty.db")
    Store(empty).close()
    assert "has no runs yet; `weir run LAB`" in refusal(store=empty)


def test_an_unknown_run_is_refused_with_the_nearest(store: str) -> None:
    assert f"did you mean {OLD}?" in refusal("switching-20260101-000000-aaab", store=store)


def test_a_beginning_that_several_runs_have_is_refused(store: str) -> None:
    assert "2 runs begin with 'switching'" in refusal("switching", store=store)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("weir: 1\n", "no result of version 3: Invalid JSON"),
        ('{"version": 1}', "no result of version 3: weir: Field required"),
        ("[" * 100_000, "no result of version 3: Invalid JSON: recursion limit exceeded"),
    ],
)
def test_a_file_that_is_no_result_is_refused_with_what_is_wrong(
    text: str, hint: str, store: str, tmp_path: Path
) -> None:
    file = tmp_path / "lab.yml"
    file.write_text(text, encoding="utf-8")
    assert hint in refusal(str(file), store=store)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["/nonexistent/result.json"], "No such file or directory; expected a result.json or a run's id"),
        ([OLD, "-o", "/nonexistent/report.html"], "choose another place with --output"),
        ([OLD, "-o", "report.pdf"], "ends in one of .txt, .json, .csv, .html"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(arguments: list[str], hint: str, store: str) -> None:
    assert hint in refusal(*arguments, store=store)


def test_an_unknown_format_is_refused_with_the_known_ones(store: str) -> None:
    text = refusal(OLD, "--format", "pdf", store=store)
    assert all(name in text for name in FORMATS)
