# SPDX-License-Identifier: Apache-2.0
"""Whom `weir exec` means, and what it refuses. What it runs: tests/smoke/test_exec.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.base.error import ENVIRONMENT
from weir.cli.main import app
from weir.fabric import end_host_command
from weir.fabric.end_host_command import CommandPlace
from weir.lab import Lab
from weir.plan import end_hosts

from .fake_fabric import FakeDeployment, deployed

FIRST, SECOND = "small-00000001", "small-00000002"
runner = CliRunner()
Ran = list[tuple[str, str, list[str]]]


def with_hosts(deployment: str) -> FakeDeployment:
    found = FakeDeployment(deployment)
    lab = Lab.model_validate({"weir": 1, "name": "small", "chain": "PVP", "technology": "direct"})
    found.topology = end_hosts.with_hosts(found.topology, lab)
    return found


@pytest.fixture
def lab_file(tmp_path: Path) -> str:
    path = tmp_path / "small.yml"
    path.write_text("{weir: 1, name: small, chain: PVP, technology: direct}\n")
    return str(path)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """What would have been run: where, in which host, and what."""
    made: Ran = []

    def become(place: CommandPlace, argv: Sequence[str]) -> None:
        made.append((place.deployment, place.name, list(argv)))

    monkeypatch.setattr(end_host_command, "become", become)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return made


def test_a_command_runs_in_the_host_of_the_labs_deployment(
    lab_file: str, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, FakeDeployment(FIRST), with_hosts(SECOND))
    done = runner.invoke(app, ["exec", lab_file, "right", "--", "curl", "-s", "http://left/"])
    assert (done.exit_code, ran) == (0, [(SECOND, "right", ["curl", "-s", "http://left/"])])


@pytest.mark.parametrize("separator", [[], ["--"]])
def test_all_that_stands_behind_the_host_is_the_commands(
    separator: list[str], ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, with_hosts(FIRST))
    command = ["curl", "-s", "--help", "--", "http://right/"]
    done = runner.invoke(app, ["exec", FIRST, "left", *separator, *command])
    assert (done.exit_code, ran) == (0, [(FIRST, "left", command)])


@pytest.mark.parametrize(("variable", "shell"), [("/bin/ash", "/bin/ash"), ("", "/bin/sh")])
def test_without_a_command_it_is_the_users_shell(
    variable: str, shell: str, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, with_hosts(FIRST))
    monkeypatch.setenv("SHELL", variable)
    assert runner.invoke(app, ["exec", FIRST, "left"]).exit_code == 0
    assert ran == [(FIRST, "left", [shell])]


def test_what_it_cannot_mean_it_refuses_with_what_to_do(
    lab_file: str, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(lab: str, end: str = "left") -> str:
        done = runner.invoke(app, ["exec", lab, end, "--", "true"])
        assert (done.exit_code, ran) == (2, [])
        return done.stderr

    deployed(monkeypatch)
    assert f"nothing of small is deployed; build it with `weir deploy {lab_file} --ends hosts`" in refused(
        lab_file
    )
    assert "no lab at nowhere, and no deployment of that name; nothing is deployed" in refused("nowhere")
    deployed(monkeypatch, FakeDeployment(FIRST))
    assert f"{FIRST} has the tester at its ends" in refused(lab_file)
    assert f"{FIRST} has the tester at its ends" in refused(FIRST)
    deployed(monkeypatch, with_hosts(FIRST), with_hosts(SECOND))
    assert f"name one in place of {lab_file}: {FIRST}, {SECOND}" in refused(lab_file)
    assert f"did you mean {FIRST}?" in refused("small-0000001")
    assert "no host 'lfet'; it has left and right (did you mean left?)" in refused(FIRST, "lfet")
    assert "no host 'middle'" in refused(FIRST, "middle")


def test_a_deployment_is_named_by_its_lab_also_where_a_directory_is_called_so(
    tmp_path: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deployed(monkeypatch, with_hosts(FIRST))
    assert runner.invoke(app, ["exec", "small", "left", "--", "true"]).exit_code == 0
    Path("small").mkdir()
    assert runner.invoke(app, ["exec", "small", "left", "--", "true"]).exit_code == 0
    assert ran == [(FIRST, "left", ["true"])] * 2


def test_a_lab_of_which_another_version_has_a_deployment_is_told_so(
    ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, FakeDeployment(FIRST, readable=False))
    done = runner.invoke(app, ["exec", "small", "left", "--", "true"])
    assert (done.exit_code, done.stderr, ran) == (3, "weir: another version\n", [])


def test_it_needs_root(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch, with_hosts(FIRST))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = runner.invoke(app, ["exec", FIRST, "left", "--", "true"])
    assert (done.exit_code, ran) == (3, [])
    assert "needs root" in done.stderr


def test_inspect_shows_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch, with_hosts(FIRST))
    shown = runner.invoke(app, ["inspect", FIRST]).stdout
    assert "host left: 198.18.0.1, 2001:2:0:1::1; reaches right at 198.19.0.1, 2001:2:0:2::1" in shown
    assert "its neighbour is resolved by ARP and Neighbor Discovery" in shown


def test_a_machine_without_a_file_of_names_is_told_which_one_to_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_host_command, "NAMES", tmp_path / "hosts")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    deployed(monkeypatch, with_hosts(FIRST))
    done = runner.invoke(app, ["exec", FIRST, "left", "ping"])
    assert done.exit_code == ENVIRONMENT
    said = " ".join(done.stderr.split())
    assert f"has no {tmp_path / 'hosts'}, in whose place commands in host left see" in said
    assert f"make an empty one: touch {tmp_path / 'hosts'}" in said
