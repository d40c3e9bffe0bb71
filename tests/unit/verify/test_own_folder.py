# SPDX-License-Identifier: Apache-2.0
"""Where a verification has its keys: nobody else gets in, and a killed one leaves none for good."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.base.error import FabricError
from weir.cli.main import app
from weir.fabric.deployment import clean_leftovers
from weir.fabric.lock import Lock
from weir.fabric.own_folder import own_folder

USERS = pytest.mark.parametrize("user", ["root", "ordinary"])


def killed(user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a verification of that user's that was killed."""
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(os, "geteuid", lambda: 0 if user == "root" else 1000)
    child = os.fork()
    if child == 0:
        with own_folder() as made:
            (made / "id_ed25519").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = (tmp_path / ("run" if user == "root" else "own")).glob("**/id_ed25519")
    return left.parent


@USERS
def test_keys_of_a_killed_verification_go_with_the_next_one(
    user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed(user, tmp_path, monkeypatch)
    with own_folder() as first, own_folder() as second:
        assert not left.exists()
        assert first != second
        assert first.is_dir()
        assert stat.S_IMODE(first.stat().st_mode) == 0o700
    assert list(left.parent.iterdir()) == []


@USERS
@pytest.mark.parametrize("words", [["destroy"], ["destroy", "--all"]])
def test_they_go_with_destroy_which_says_so_and_those_of_a_running_one_stay(
    words: list[str], user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed(user, tmp_path, monkeypatch)
    used = left.with_name("verify_used")
    used.mkdir()
    lock = Lock(used.with_name("verify_used.lock"))
    assert lock.take()
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    said = f"removed the folder {left}, which a killed weir had left\nnothing is deployed\n"
    assert done.stdout == said
    assert {*left.parent.iterdir()} == {used, lock.path}
    lock.release()


def test_they_go_with_what_else_a_killed_weir_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = killed("root", tmp_path, monkeypatch)
    assert clean_leftovers() == [f"the folder {left}"]
    assert list(left.parent.iterdir()) == []


def test_the_run_directory_of_a_lab_that_is_called_verify_is_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    its = tmp_path / "verify-1a2b3c4d"
    its.mkdir()
    with own_folder():
        assert its.is_dir()
    assert clean_leftovers() == []
    assert its.is_dir()


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "file" / "run"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(FabricError, match=r"cannot make .*/file/run: Not a directory"), own_folder():
        pass
