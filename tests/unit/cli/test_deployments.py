# SPDX-License-Identifier: Apache-2.0
"""`weir inspect`, `weir destroy` and refusals of `weir deploy`, without touching the system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir import fabric
from weir.cli import exits
from weir.cli.main import app

from .fake_fabric import FakeDeployment, deployed

LAB = str(Path(__file__).parents[3] / "labs" / "switching")
FIRST, SECOND = "small-00000001", "small-00000002"
runner = CliRunner()


@pytest.fixture(autouse=True)
def nothing_else_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric, "remove_remains", list)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> list[FakeDeployment]:
    found = [FakeDeployment(FIRST), FakeDeployment(SECOND, readable=False)]
    monkeypatch.setattr(fabric, "deployments", lambda: found)
    return found


@pytest.mark.parametrize("command", ["inspect", "destroy"])
def test_with_nothing_deployed_the_command_says_so(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch)
    done = runner.invoke(app, [command])
    assert (done.exit_code, done.stdout) == (0, "nothing is deployed\n")


@pytest.mark.usefixtures("two")
def test_inspect_lists_all_deployments_also_those_of_another_version() -> None:
    lines = runner.invoke(app, ["inspect"]).stdout.splitlines()
    assert lines[0] == f"{FIRST}  PVP under direct"
    assert lines[1].startswith(f"{SECOND}  another version")


@pytest.mark.usefixtures("two")
def test_inspect_shows_the_ports_of_one() -> None:
    shown = runner.invoke(app, ["inspect", FIRST]).stdout
    for port in ("tester.left", "f1.left", "f1.right", "tester.right"):
        assert port in shown
    assert "weir-dp does not answer" in shown


def test_inspect_says_first_which_program_has_ended(two: list[FakeDeployment]) -> None:
    two[0].has_ended = "program f1 (default) has ended: boo"
    assert runner.invoke(app, ["inspect", FIRST]).stdout.splitlines()[2] == two[0].has_ended
    assert json.loads(runner.invoke(app, ["inspect", FIRST, "--json"]).stdout)["ended"] == two[0].has_ended


@pytest.mark.usefixtures("two")
def test_inspect_says_why_it_can_show_nothing_of_one() -> None:
    assert runner.invoke(app, ["inspect", SECOND]).stdout == f"{SECOND}  another version\n"
    document = json.loads(runner.invoke(app, ["inspect", "--json"]).stdout)
    assert [one.get("unreadable") for one in document] == [None, "another version"]
    only = json.loads(runner.invoke(app, ["inspect", SECOND, "--json"]).stdout)
    assert only["unreadable"] == "another version"


@pytest.mark.usefixtures("two")
def test_inspect_is_machine_readable_on_demand() -> None:
    document = json.loads(runner.invoke(app, ["inspect", FIRST, "--json"]).stdout)
    assert document["id"] == FIRST
    assert document["ledger"] is None
    assert document["topology"]["chain"] == "PVP"


def test_destroy_takes_down_the_one_that_is_named(two: list[FakeDeployment]) -> None:
    assert runner.invoke(app, ["destroy", SECOND]).exit_code == 0
    assert [one.destroyed for one in two] == [False, True]


@pytest.mark.parametrize("by", ["name", "file"])
def test_destroy_takes_the_only_deployment_of_a_lab_by_its_name_or_its_file(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab.yml").write_text("weir: 1\nname: small\nchain: PVP\ntechnology: [direct]\n")
    one, other = FakeDeployment(FIRST), FakeDeployment("other-00000003")
    deployed(monkeypatch, one, other)
    assert runner.invoke(app, ["destroy", "small" if by == "name" else str(tmp_path)]).exit_code == 0
    assert (one.destroyed, other.destroyed) == (True, False)


@pytest.mark.parametrize("there", ["another lab", "no lab"])
@pytest.mark.parametrize("command", ["inspect", "destroy"])
def test_a_labs_name_is_one_also_where_a_directory_is_called_so(
    command: str, there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small").mkdir()
    if there == "another lab":
        Path("small", "lab.yml").write_text("weir: 1\nname: large\nchain: PVP\ntechnology: [direct]\n")
    one = FakeDeployment(FIRST)
    deployed(monkeypatch, one)
    done = runner.invoke(app, [command, "small"])
    assert (done.exit_code, one.destroyed) == (0, command == "destroy")
    assert done.stdout.startswith(FIRST)


def test_the_lab_in_a_directory_is_meant_before_one_that_is_called_as_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small").mkdir()
    Path("small", "lab.yml").write_text("weir: 1\nname: other\nchain: PVP\ntechnology: [direct]\n")
    one, other = FakeDeployment(FIRST), FakeDeployment("other-00000003")
    deployed(monkeypatch, one, other)
    assert runner.invoke(app, ["destroy", "small"]).exit_code == 0
    assert (one.destroyed, other.destroyed) == (False, True)


def test_the_lab_of_several_deployments_is_no_name_of_one(two: list[FakeDeployment]) -> None:
    done = runner.invoke(app, ["destroy", "small"])
    assert done.exit_code == 2
    assert f"small is deployed more than once; name one in place of small: {FIRST}, {SECOND}" in done.stderr
    assert not any(one.destroyed for one in two)


def test_destroy_all_takes_down_all(two: list[FakeDeployment]) -> None:
    assert runner.invoke(app, ["destroy", "--all"]).exit_code == 0
    assert all(one.destroyed for one in two)


def test_destroy_all_goes_on_past_one_that_a_running_weir_has(
    two: list[FakeDeployment], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise fabric.FabricError(f"{FIRST} belongs to a weir that is running", "wait for its end")

    monkeypatch.setattr(two[0], "destroy", refuse)
    done = runner.invoke(app, ["destroy", "--all"])
    assert done.exit_code == exits.ENVIRONMENT
    assert f"{FIRST} belongs to a weir that is running; wait for its end" in done.stderr
    assert two[1].destroyed


def test_destroy_without_an_id_takes_down_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    only = FakeDeployment(FIRST)
    deployed(monkeypatch, only)
    assert runner.invoke(app, ["destroy"]).exit_code == 0
    assert only.destroyed


def test_destroy_without_an_id_asks_which_of_several(two: list[FakeDeployment]) -> None:
    done = runner.invoke(app, ["destroy"])
    assert done.exit_code == exits.USAGE
    assert f"which deployment? There are: {FIRST}, {SECOND}" in done.stderr
    assert not any(one.destroyed for one in two)


@pytest.mark.usefixtures("two")
def test_an_unknown_id_is_refused_with_the_nearest() -> None:
    done = runner.invoke(app, ["destroy", "smal-00000001"])
    assert done.exit_code == exits.USAGE
    assert f"did you mean {FIRST}?" in done.stderr


def test_an_id_together_with_all_is_refused(two: list[FakeDeployment]) -> None:
    assert runner.invoke(app, ["destroy", FIRST, "--all"]).exit_code == exits.USAGE
    assert not any(one.destroyed for one in two)


def test_what_this_machine_lacks_ends_with_3_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = fabric.Refusal("this kernel has no namespaces", "use another one")
    monkeypatch.setattr(fabric, "require_root", lambda: None)
    monkeypatch.setattr(fabric, "check", lambda *_asked, **_options: refusal)
    monkeypatch.setattr("weir.cli.labfile.machine_cpus", lambda: (0, 1))
    done = runner.invoke(app, ["deploy", LAB])
    assert done.exit_code == exits.ENVIRONMENT
    assert "direct cannot run here: this kernel has no namespaces; use another one" in done.stderr
