# SPDX-License-Identifier: Apache-2.0
"""The command, on a made-up cloud: its folder is its own while it runs, and one can go on with it later."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from weir.base.error import FabricError
from weir.cli.main import app
from weir.results.verification import Verification
from weir.verify import drivers
from weir.verify.driver import Service
from weir.verify.drivers import local

from .made import MadeCloud


def verify(*words: str) -> Result:
    return CliRunner().invoke(app, ["verify", *words])


@dataclass
class Watched(MadeCloud):
    """During whose first case somebody verifies, too; then Ctrl-C comes, where wanted."""

    words: Sequence[str] = ()
    interrupted: bool = False
    said: list[Result] = field(default_factory=list)
    folders: list[set[str]] = field(default_factory=list)
    folder: Path = Path()

    def services(self, within_s: float, built: ExitStack) -> Sequence[Service]:
        self.folders.append({one.name for one in self.folder.iterdir()})
        if self.words:
            self.said.append(verify(*self.words))
        if self.interrupted:
            raise KeyboardInterrupt
        return super().services(within_s, built)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Watched:
    """Of the file made.yml in this folder."""
    made = Watched(folder=tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "run"))
    monkeypatch.setitem(drivers.DRIVERS, "local", lambda _sut, _directory: made)
    monkeypatch.setattr(drivers, "require_rights", lambda _sut: None)
    Path("made.yml").write_text("weir: 1\nname: made\nsuites: healthcheck\n")
    return made


def outcomes() -> list[str]:
    found = Verification.read(Path("out/verification.json").read_bytes())
    return [case.outcome for suite in found.suites for case in suite.cases]


@pytest.mark.parametrize("words", [("-o", "out"), ("--resume", "out")])
def test_nobody_else_verifies_into_the_folder_of_a_run_that_goes_on(
    words: tuple[str, str], cloud: Watched
) -> None:
    cloud.words = ("made.yml", *words)
    assert verify("made.yml", "-o", "out").exit_code == 0
    (second,) = cloud.said
    assert second.exit_code == 3
    assert f"out: another weir verify (pid {os.getpid()}) works in it" in second.output
    assert outcomes() == ["passed"] * 9
    assert {one.name for one in Path("out").iterdir()} == {"verification.json", "report.html", "junit.xml"}


def test_of_two_that_go_on_with_one_run_the_second_is_refused(cloud: Watched) -> None:
    Path("made.yml").write_text("weir: 1\nname: made\nsuites: sanity\n")
    cloud.interrupted = True
    assert verify("made.yml", "--suite", "healthcheck", "-o", "out").exit_code == 130
    cloud.interrupted, cloud.words = False, ("made.yml", "--resume", "out")
    assert verify("made.yml", "--resume", "out").exit_code == 0
    assert [one.exit_code for one in cloud.said] == [3]
    assert outcomes() == ["passed"] * 9


def test_a_folder_whose_run_was_killed_can_be_gone_on_with(cloud: Watched) -> None:
    cloud.interrupted = True
    verify("made.yml", "-o", "out")
    Path("out/verification.lock").touch()
    cloud.interrupted = False
    assert verify("made.yml", "--resume", "out").exit_code == 0
    assert not Path("out/verification.lock").exists()


def test_a_cloud_that_cannot_be_verified_leaves_no_folder(cloud: Watched) -> None:
    cloud.lacks = "no switch here"
    assert verify("made.yml", "-o", "deep/out").exit_code == 3
    assert not Path("deep").exists()


def refuse() -> None:
    raise FabricError("a cloud cannot stand here: ovs-vswitchd not installed")


def test_without_open_vswitch_the_own_cloud_is_refused_with_what_is_missing(
    cloud: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del cloud
    monkeypatch.setitem(drivers.DRIVERS, "local", local.LocalDriver)
    monkeypatch.setattr(local, "userspace", lambda: True)
    monkeypatch.setattr(local, "require_cloud", lambda _steps, _topology: refuse())
    monkeypatch.setenv("PATH", str(tmp_path))
    said = verify("made.yml", "-o", "out")
    assert (said.exit_code, Path("out").exists()) == (3, False)
    assert "a cloud cannot stand here: ovs-vswitchd not installed" in said.output


def test_what_is_no_folder_of_a_run_is_refused(cloud: Watched) -> None:
    del cloud
    said = verify("made.yml", "--resume", "nowhere")
    assert said.exit_code == 2
    assert "nowhere/verification.json: No such file or directory; expected the folder" in said.output
    assert not Path("nowhere").exists()
