# SPDX-License-Identifier: Apache-2.0
"""Files for the user: complete or not there, checked beforehand, and the user's own under sudo."""

from __future__ import annotations

import errno
import os
import pwd
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from weir.base.error import ENVIRONMENT, USAGE
from weir.store import files
from weir.store.files import FileError, forbidden
from weir.store.model_file import check_model_place
from weir.store.store import Store

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user: run as root")
NOBODY = pwd.getpwnam("nobody")


def full(_descriptor: int) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_that_cannot_be_completed_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left on device; choose another") as refused:
        files.write_file(tmp_path / "r.html", "text", "choose another place with --output")
    assert refused.value.exit_code == ENVIRONMENT
    with pytest.raises(FileError):
        files.write_file(tmp_path / "a" / "b" / "r.html", "text", "", folders=True)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.html").write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError):
        files.write_file(tmp_path / "r.html", "after", "")
    assert (tmp_path / "r.html").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_is_replaced_keeps_its_permissions_and_its_links(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept", tmp_path / "link"
    kept.write_text("before")
    kept.chmod(0o640)
    link.symlink_to("kept")
    files.write_file(link, "after", "")
    assert link.is_symlink()
    assert kept.read_text() == "after"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o022)
    files.write_file(tmp_path / "a" / "b" / "new", "text\r\n", "", folders=True)
    os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b" / "new").stat().st_mode) == 0o644
    assert (tmp_path / "a" / "b" / "new").read_bytes() == b"text\r\n"


@pytest.mark.parametrize("there", [False, True])
def test_a_program_that_is_killed_while_it_writes_leaves_nothing(tmp_path: Path, *, there: bool) -> None:
    if there:
        (tmp_path / "r.html").write_text("before")
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom weir.store import files\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_file(Path(sys.argv[1]), 'after', '')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "r.html"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"] * there


def test_where_a_file_cannot_be_without_a_name_it_has_one_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_nameless", lambda _: None)
    files.write_file(tmp_path / "r.html", "text", "")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("r.html", "text")]


def test_a_device_stays_a_device() -> None:
    files.write_file(Path("/dev/null"), "text", "")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(FileError, match="/dev/full: No space left on device"):
        files.write_file(Path("/dev/full"), "text", "")


def test_without_force_a_file_stays(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("before")
    with pytest.raises(FileError, match="is there already"):
        files.write_file(tmp_path / "lab.yml", "after", "", force=False)
    assert (tmp_path / "lab.yml").read_text() == "before"


def test_a_wrong_place_is_refused_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for check, place, why in (
        (files.check_folder, "file", "file: is not a directory"),
        (files.check_folder, "file/inside", "file is not a directory"),
        (files.check_file, "", "is a directory; expected a file"),
        (files.check_file, "missing/r.html", "there is no directory"),
        (files.check_file, "file/r.html", "there is no directory"),
    ):
        with pytest.raises(FileError, match=f"{why}.*; choose another place with --output") as refused:
            check(tmp_path / place, "--output")
        assert refused.value.exit_code == USAGE
    files.check_folder(tmp_path / "new" / "folder", "--output")
    with pytest.raises(FileError, match=r"^/proc/nope: .*--output"):
        files.check_folder(Path("/proc/nope"), "--output")
    files.check_file(tmp_path / "file", "--output")
    files.check_file(Path("/dev/null"), "--output")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file"]


@needs_root
def test_a_place_that_may_not_be_written_is_refused_beforehand() -> None:
    os.seteuid(NOBODY.pw_uid)
    try:
        for check in (files.check_file, files.check_folder):
            with pytest.raises(FileError, match="may not be written; choose another") as refused:
                check(Path("/etc/new"), "--output")
            assert refused.value.exit_code == ENVIRONMENT
    finally:
        os.seteuid(0)


@needs_root
def test_a_file_that_is_only_to_be_read_stays() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        kept = Path(folder) / "kept"
        kept.write_text("before")
        kept.chmod(0o444)
        os.seteuid(NOBODY.pw_uid)
        try:
            with pytest.raises(FileError, match="may not be written"):
                files.check_file(kept, "--output")
            with pytest.raises(FileError, match="Permission denied"):
                files.write_file(kept, "after", "")
        finally:
            os.seteuid(0)
        assert kept.read_text() == "before"
        assert list(Path(folder).iterdir()) == [kept]


@pytest.fixture
def by_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_USER", "nobody")
    monkeypatch.setenv("SUDO_UID", str(NOBODY.pw_uid))
    monkeypatch.setenv("SUDO_GID", str(NOBODY.pw_gid))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


@pytest.mark.usefixtures("by_sudo")
def test_under_sudo_the_data_folder_is_that_of_who_called_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    assert files.data_folder() == Path(NOBODY.pw_dir) / ".local" / "share" / "weir"
    monkeypatch.setenv("SUDO_UID", "0")
    assert files.data_folder() == Path("/root/.local/share/weir")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert files.data_folder() == Path("/data/weir")


@needs_root
@pytest.mark.usefixtures("by_sudo")
def test_under_sudo_the_store_is_the_user_s_while_it_is_written_too(tmp_path: Path) -> None:
    path = tmp_path / "data" / "results.db"
    with Store(path):
        names = {one.name: one.owner() for one in path.parent.iterdir()}
        assert names == dict.fromkeys(("results.db", "results.db-wal", "results.db-shm"), "nobody")
    assert path.parent.owner() == "nobody"


def test_the_place_of_a_model_is_checked_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check_model_place(tmp_path / "new" / "model.json")
    for place in (tmp_path, tmp_path / "file" / "model.json"):
        with pytest.raises(FileError, match="choose another place with --model"):
            check_model_place(place)


@needs_root
@pytest.mark.usefixtures("by_sudo")
def test_under_sudo_what_is_made_is_the_user_s_and_what_was_there_is_not(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("before")
    files.write_file(tmp_path / "there", "after", "")
    files.write_file(tmp_path / "results" / "run" / "report.html", "text", "", folders=True)
    made = [tmp_path / "results", *(tmp_path / "results").rglob("*")]
    assert len(made) == 3
    assert {one.owner() for one in made} == {"nobody"}
    assert {tmp_path.owner(), (tmp_path / "there").owner()} == {"root"}


def test_a_file_system_that_is_read_only_is_no_matter_of_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "results.db"
    place.touch()
    seen = os.statvfs(place)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=seen.f_flag | os.ST_RDONLY))
    said = forbidden(place, str(place), "written to", "choose another store with --store")
    assert (
        said
        == f"{place}: cannot be written to: its file system is read-only; choose another store with --store"
    )
