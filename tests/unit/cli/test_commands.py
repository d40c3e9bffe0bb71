# SPDX-License-Identifier: Apache-2.0
"""The command line: what it prints, where, and with which exit code. Nothing here touches the system."""

from __future__ import annotations

import errno
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import weir
from tests.report.synthetic import result
from weir import __version__
from weir.base.error import WeirError
from weir.cli import exits
from weir.cli.main import COMMANDS, app, main
from weir.procedures.campaign import Campaign
from weir.report import render
from weir.results.result import Result

LAB = str(Path(__file__).parents[3] / "labs" / "switching")
runner = CliRunner()


def can_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """This user may, and this machine has all that any lab needs."""
    monkeypatch.setattr("weir.fabric.require_to_measure", lambda: None)
    monkeypatch.setattr("weir.fabric.check", lambda *_args, **_options: None)


def bad_lab(tmp_path: Path) -> str:
    path = tmp_path / "bad.yml"
    path.write_text("weir: 1\nname: bad\nchain: PVX\ntechnology: [ovss]\n")
    return str(path)


def test_the_version_is_the_packages() -> None:
    assert runner.invoke(app, ["--version"]).stdout.startswith(f"weir {__version__}")


@pytest.fixture(autouse=True)
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else polls on this machine."""
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "run"))


def test_programs_of_root_are_found_by_an_ordinary_user_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/home/somebody/bin:/usr/bin:/bin")
    monkeypatch.setattr(sys, "argv", ["weir", "--version"])
    with pytest.raises(SystemExit):
        main()
    found = os.environ["PATH"].split(":")
    assert found[:3] == ["/home/somebody/bin", "/usr/bin", "/bin"]
    assert "/usr/sbin" in found[3:]


def test_without_a_command_help_lists_all_commands() -> None:
    shown = runner.invoke(app, []).output
    assert all(f"  {command.__name__.replace('_', '-')}" in shown for command in COMMANDS)


@pytest.mark.parametrize("group", [[], ["model"], ["model", "kernel-vnf"], ["fleet"], ["image"]])
def test_what_each_command_does_is_said_in_a_line_of_80_columns(group: list[str]) -> None:
    said = runner.invoke(app, [*group, "--help"], terminal_width=80).stdout
    _, _, commands = said.partition("Show this message and exit.\n")
    lines = [line for line in commands.splitlines() if line.startswith("  ")]
    assert len(lines) > 0
    assert [line for line in lines if line.endswith("...") or line.startswith("   ")] == []


def test_help_has_the_commands_in_groups_by_what_they_are_for() -> None:
    said = runner.invoke(app, ["--help"], terminal_width=80).stdout
    groups: dict[str, list[str]] = {}
    for line in said.partition("Show this message and exit.\n")[2].splitlines():
        if line.endswith(":"):
            groups[line[:-1]] = []
        elif line:
            groups[[*groups][-1]].append(line.split()[0])
    assert [*groups] == [
        "Write a lab, check and tune",
        "Measure",
        "Read what was measured",
        "Keep what was measured",
        "Build, look and work inside",
        "Predict and plan",
    ]
    assert groups["Measure"][0] == "run"
    assert groups["Predict and plan"] == ["plan", "model", "fleet"]
    assert groups["Build, look and work inside"][-1] == "image"


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["validate"], "validate [OPTIONS] LAB"),
        (["run"], "run [OPTIONS] [LAB]"),
        (["compare"], "compare [OPTIONS] BEFORE [AFTER]..."),
        (["exec"], "exec [OPTIONS] LAB HOST [COMMAND]..."),
        (["rm"], "rm [OPTIONS] [RUN]..."),
        (["graph"], "graph [OPTIONS] [LAB]"),
        (["model", "calibrate"], "model calibrate [OPTIONS] LAB"),
        (["fleet", "plan"], "fleet plan [OPTIONS] FLEET"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_usage_has_brackets_around_what_may_be_absent_alone(words: list[str], usage: str) -> None:
    said = runner.invoke(app, [*words, "--help"], terminal_width=80, prog_name="weir").stdout
    assert said.splitlines()[0] == f"Usage: weir {usage}"


def test_a_good_lab_is_summarised() -> None:
    done = runner.invoke(app, ["validate", LAB, "--any-machine"])
    assert done.exit_code == 0
    assert "switching: valid" in done.stdout
    assert "PVP, PVVP" in done.stdout


@pytest.mark.parametrize(
    ("level", "measure", "said"),
    [
        ("{latency_us: {p99: 100}}", "", True),
        ("{latency_us: {p99: 100}}", "measure: {latency: {}}\n", False),
        ("{throughput: [{goal: NDR, pps: 1000}]}", "", False),
    ],
)
def test_a_service_level_that_a_run_does_not_judge_is_told(
    tmp_path: Path, level: str, measure: str, *, said: bool
) -> None:
    lab = tmp_path / "lab.yml"
    lab.write_text(f"weir: 1\nname: s\nchain: PVP\ntechnology: direct\nsla: {level}\n{measure}")
    done = runner.invoke(app, ["validate", str(lab), "--any-machine"])
    assert done.exit_code == 0, done.output
    assert ("measure.latency is absent" in done.stdout) == said


def test_one_item_stands_for_a_list_of_it(tmp_path: Path) -> None:
    lab = tmp_path / "lab.yml"
    text = "weir: 1\nname: s\nchain: PVP\ntechnology: direct\ntraffic: {frames: 128}\ncores: {tester: 0}\n"
    lab.write_text(text)
    done = runner.invoke(app, ["validate", str(lab), "--any-machine", "--json"])
    assert done.exit_code == 0, done.output
    known = json.loads(done.stdout)["lab"]
    assert (known["traffic"]["frames"], known["cores"]["tester"]) == (["128"], [0])


def test_a_bad_lab_ends_with_2_and_all_problems_on_stderr(tmp_path: Path) -> None:
    done = runner.invoke(app, ["validate", bad_lab(tmp_path)])
    assert done.exit_code == exits.USAGE
    assert done.stdout == ""
    assert "bad.yml:3:1: chain: " in done.stderr
    assert "bad.yml:4:14: technology[0]: unknown value 'ovss'" in done.stderr


def test_problems_are_machine_readable_on_demand(tmp_path: Path) -> None:
    done = runner.invoke(app, ["validate", bad_lab(tmp_path), "--json"])
    assert done.exit_code == exits.USAGE
    document = json.loads(done.stdout)
    assert document["valid"] is False
    assert [(one["line"], one["nearest"]) for one in document["problems"]] == [(3, None), (4, "ovs")]


@pytest.mark.parametrize(
    "command",
    [
        ["deploy", "--dry-run"],
        ["run"],
        ["soak"],
        ["rfc2544"],
        ["migrate"],
        ["plan"],
        ["fleet", "plan"],
        ["model", "predict"],
        ["model", "calibrate"],
    ],
)
def test_every_command_with_json_says_problems_as_validate_does(command: list[str]) -> None:
    done = runner.invoke(app, [*command, "/nonexistent", "--json"])
    assert done.exit_code == exits.USAGE
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document["valid"] is False
    assert [one["message"] for one in document["problems"]] == ["does not exist"]


def test_a_place_for_reports_is_refused_before_anything_is_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    can_measure(monkeypatch)
    monkeypatch.setattr("weir.procedures.campaign.Campaign.run", lambda _: pytest.fail("measures"))
    file, store = tmp_path / "file", str(tmp_path / "results.db")
    file.write_text("")
    done = runner.invoke(app, ["run", LAB, "-o", str(file), "--store", store])
    assert done.exit_code == exits.USAGE
    assert done.stderr == f"weir: {file}: is not a directory; choose another place with --output\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_run_prints_its_result_alone_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = result()

    def run(campaign: Campaign) -> Result:
        campaign._progress.say("measuring")
        return measured

    can_measure(monkeypatch)
    monkeypatch.setattr(Campaign, "run", run)
    options = ["--json", "-o", str(tmp_path / "out"), "--store", str(tmp_path / "results.db")]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "latency.csv").write_text("of another run")
    done = runner.invoke(app, ["run", LAB, *options])
    assert Result.read(done.stdout) == measured
    assert "there from before: latency.csv" in done.stderr
    assert "measuring" in done.stderr
    beside = "(report.md, result.json and throughput.csv beside it)"
    assert f"report: {tmp_path}/out/report.html {beside}" in done.stderr
    assert (tmp_path / "out" / "report.md").read_text() == render(measured, "markdown")
    assert done.stdout == (tmp_path / "out" / "result.json").read_text()


def test_reports_that_cannot_be_written_are_said_with_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    can_measure(monkeypatch)
    monkeypatch.setattr(Campaign, "run", lambda _: result())
    monkeypatch.setattr("os.fsync", full)
    options = ["-o", str(tmp_path / "out"), "--store", str(tmp_path / "results.db")]
    done = runner.invoke(app, ["run", LAB, *options])
    assert done.exit_code == exits.ENVIRONMENT
    again = f"`weir report {result().id} --store {tmp_path / 'results.db'} -o FILE`"
    assert f"report.html: No space left on device; the run is in the store: {again}" in done.stderr
    assert "Mpps" in done.stdout  # what was measured is shown all the same
    assert not (tmp_path / "out").exists()


def test_a_complete_lab_is_machine_readable_on_demand() -> None:
    document = json.loads(runner.invoke(app, ["validate", LAB, "--quick", "--any-machine", "--json"]).stdout)
    assert document["valid"] is True
    assert document["lab"]["traffic"]["frames"] == ["64", "1518"]


def test_a_dry_run_lists_the_steps_in_order_with_their_undoing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.cli.labfile.machine_cpus", lambda: (0, 1))
    done = runner.invoke(app, ["deploy", LAB, "-t", "linux-bridge", "--chain", "PVVP", "--dry-run"])
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith("PVVP under linux-bridge in ")
    assert lines[1].startswith(" 1. make the run directory")
    assert "(undo: remove the run directory)" in lines[1]
    assert "start weir-dp" in lines[-2]


def test_a_dry_run_is_machine_readable_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.cli.labfile.machine_cpus", lambda: (0, 1))
    steps = json.loads(runner.invoke(app, ["deploy", LAB, "--dry-run", "--json"]).stdout)
    assert [step["kind"] for step in steps] == ["run-directory", "hugepages", "weir-dp"]


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [("--technology", "ovs-dpkd", "did you mean ovs-dpdk?"), ("--chain", "PVP2", "did you mean PVP?")],
)
def test_a_technology_or_chain_that_the_lab_lacks_is_refused(
    option: str, value: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.cli.labfile.machine_cpus", lambda: (0, 1))
    done = runner.invoke(app, ["deploy", LAB, "--dry-run", option, value])
    assert done.exit_code == exits.USAGE
    assert hint in done.stderr


def test_help_needs_none_of_the_heavy_modules() -> None:
    listing = "import sys, weir.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "sqlalchemy", "pyroute2", "ruamel", "numpy", "MLRsearch", "weir.lab", "weir.fabric"}
    assert not heavy & set(loaded.stdout.split())


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (exits.CommandError("no root", exits.ENVIRONMENT), exits.ENVIRONMENT),
        (KeyboardInterrupt(), exits.INTERRUPTED),
    ],
)
def test_errors_that_users_can_mend_become_a_message_and_a_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing() -> None:
        raise error

    with pytest.raises(typer.Exit) as caught:
        exits.reporting(failing)()
    assert caught.value.exit_code == code
    assert capsys.readouterr().err.startswith("weir: ")


def test_a_defect_of_weir_keeps_its_traceback() -> None:
    def failing() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        exits.reporting(failing)()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EINTR])
def test_what_the_machine_refuses_in_the_middle_is_said_without_a_traceback(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing() -> None:
        raise OSError(number, os.strerror(number), "/run/weir/x")

    with pytest.raises(typer.Exit) as caught:
        exits.reporting(failing)()
    assert caught.value.exit_code == exits.ENVIRONMENT
    assert capsys.readouterr().err.startswith(f"weir: /run/weir/x: {os.strerror(number)}; ")


def test_a_file_that_weir_did_not_look_for_is_a_defect_and_keeps_its_traceback() -> None:
    def failing() -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "x")

    with pytest.raises(FileNotFoundError):
        exits.reporting(failing)()


def test_every_error_of_weir_is_one_that_users_can_mend() -> None:
    names = [one.name for one in pkgutil.walk_packages(weir.__path__, "weir.")]
    kinds = {
        kind
        for name in names
        for kind in vars(importlib.import_module(name)).values()
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__.startswith("weir.")
    }
    assert len(kinds) > 10
    # Of a search whose time is over, and of a message to the subscriber server: they never leave those two.
    inner = {"_TimeUpError", "DiameterError"}
    assert {kind.__name__ for kind in kinds if not issubclass(kind, WeirError)} == inner
    assert {kind.exit_code for kind in kinds if issubclass(kind, WeirError)} <= {
        exits.FAILED,
        exits.USAGE,
        exits.ENVIRONMENT,
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("calibrate LAB --trials 4", "weir model calibrate"),
        ("predict LAB --rate 1Mpps", "weir model predict LAB"),
        ("predict --model kernel-vnf --cores 8", "weir model kernel-vnf predict"),
        ("validate-model --random 3", "weir model validate"),
        ("plan --fleet labs/fleet --seed 1", "weir fleet plan"),
        ("plan --fleet=labs/fleet", "weir fleet plan"),
        ("plan --model kernel-vnf --flows 4", "weir model kernel-vnf rank"),
    ],
)
def test_a_command_that_moved_says_where_to_in_one_line(old: str, new: str) -> None:
    done = runner.invoke(app, old.split())
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (exits.USAGE, "", 1)
    assert f"`{new}`" in done.stderr


def test_help_does_not_show_what_moved() -> None:
    shown = runner.invoke(app, ["--help"]).stdout
    assert not [old for old in ("calibrate", "predict", "validate-model") if f"\n  {old} " in shown]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "x", "--format", "png"], "Invalid value for '--format' / '-f': 'png' is not one of"),
        (
            ["run", "x", "--shuffle-seed", "abc"],
            "Invalid value for '--shuffle-seed': expected a whole number",
        ),
        (["lean", "l2fwd", "--cpu-ghz", "fast"], "Invalid value for '--cpu-ghz': expected a number"),
    ],
)
def test_a_value_of_an_option_is_refused_in_plain_words(words: list[str], said: str) -> None:
    done = runner.invoke(app, words)
    assert done.exit_code == exits.USAGE
    assert said in " ".join(done.stderr.split())
