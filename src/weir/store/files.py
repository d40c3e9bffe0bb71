# SPDX-License-Identifier: Apache-2.0
"""Files that Weir writes for its user: complete or not at all, and the user's own, also under sudo."""

from __future__ import annotations

import errno
import os
import pwd
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from weir.base.error import USAGE, WeirError


class FileError(WeirError):
    """A file or folder of the user's cannot be written; says which, why, and what to do."""


class WrongPlaceError(FileError):
    """Nothing can be written where the user said, whatever the machine."""

    exit_code = USAGE


@dataclass(frozen=True)
class Invoker:
    """Who called sudo."""

    uid: int
    gid: int
    home: Path


def invoker() -> Invoker | None:
    """None: this process is nobody's by sudo."""
    uid, gid = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() != 0 or not (uid.isdecimal() and gid.isdecimal()) or int(uid) == 0:
        return None
    try:
        return Invoker(int(uid), int(gid), Path(pwd.getpwuid(int(uid)).pw_dir))
    except KeyError:
        return None


def data_folder() -> Path:
    """weir in $XDG_DATA_HOME or ~/.local/share, of the one who called sudo: `sudo weir run` and
    `weir report` have one store."""
    data = os.environ.get("XDG_DATA_HOME")
    if data:
        return Path(data) / "weir"
    by = invoker()
    return (by.home if by is not None else Path.home()) / ".local" / "share" / "weir"


def give(path: Path) -> None:
    """A file or folder that this process made now: it is the one's who called sudo."""
    by = invoker()
    if by is not None:
        with suppress(OSError):  # a file system without owners
            os.chown(path, by.uid, by.gid, follow_symlinks=False)


def make_folder(path: Path) -> list[Path]:
    """With those above it that are missing; which it made, the innermost last. OSError; then it made none."""
    made = []
    try:
        for one in reversed([one for one in (path, *path.parents) if not one.exists()]):
            with suppress(FileExistsError):  # another Weir made it now
                one.mkdir()
                give(one)
                made.append(one)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is not a directory", str(path))
    except BaseException:
        remove_folders(made)
        raise
    return made


def remove_folders(made: Sequence[Path]) -> None:
    """Those of `make_folder` in which there is nothing."""
    for one in reversed(made):
        with suppress(OSError):
            one.rmdir()


def forbidden(path: Path, name: str, what: str, advice: str) -> str:
    """To whoever may not do `what` with it: whose it is, as far as that may be seen, and what to do. `advice`
    may name the {owner}."""
    if _read_only(path):
        return f"{name}: cannot be {what}: its file system is read-only; {advice.format(owner='its owner')}"
    try:
        status = path.stat()
        owner = _user(status.st_uid)
        whose = f"it belongs to {owner} (mode {stat.S_IMODE(status.st_mode):o})"
        how = f"run this as {owner} (sudo -u {owner})"
    except OSError:
        owner, whose = "its owner", "a folder on the way to it is closed"
        how = "run this as its owner (sudo)"
    more = advice.format(owner=owner)
    return f"{name}: cannot be {what} by {_user(os.geteuid())}: {whose}; {how}, {more}"


def _read_only(path: Path) -> bool:
    """Whether its file system is mounted so: even root writes nothing there."""
    with suppress(OSError):
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    return False


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def check_file(path: Path, option: str) -> None:
    """Before anything is measured for it. FileError if no file can be written there."""
    with _said(path, _choose(option)):
        if path.is_dir():
            raise WrongPlaceError(f"{path}: is a directory; expected a file; {_choose(option)}")
        if not path.parent.is_dir():
            raise WrongPlaceError(f"{path}: there is no directory {path.parent}; {_choose(option)}")
        written = [path] if path.exists() else []
        if path.is_file() or not written:
            written.append(path.resolve().parent)
        if not all(os.access(one, os.W_OK, effective_ids=True) for one in written):
            raise FileError(f"{path}: may not be written; {_choose(option)}")


def check_folder(path: Path, option: str) -> None:
    """Likewise, for a folder and files in it; it and those above it need not be there yet."""
    with _said(path, _choose(option)):
        there = next(one for one in (path, *path.absolute().parents) if one.exists())
        if not there.is_dir():
            what = "is not a directory" if there == path else f"{there} is not a directory"
            raise WrongPlaceError(f"{path}: {what}; {_choose(option)}")
        if not os.access(there, os.W_OK | os.X_OK, effective_ids=True):
            raise FileError(f"{path}: {there} may not be written; {_choose(option)}")
        for one in reversed(make_folder(path)):  # /proc says that it may be written, and has no room
            one.rmdir()


def write_file(path: Path, text: str, advice: str, *, force: bool = True, folders: bool = False) -> None:
    """Written beside and renamed when it is complete. FileError ends with `advice`; then nothing is left.

    A device or a pipe is written as it is. `force`: over a file that is there. `folders`: in one that is
    made, where there is none.
    """
    with _said(path, advice), _in_folder(path.parent if folders else None):
        if path.exists() and not force:
            raise FileExistsError(errno.EEXIST, "is there already", str(path))
        _write(path, lambda file: file.write(text.encode("utf-8")))


@contextmanager
def _said(path: Path, advice: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}; {advice}") from error


def write_binary(
    path: Path, write: Callable[[BinaryIO], object], advice: str, *, folders: bool = False
) -> Sequence[Path]:
    """Likewise what is too much for one text: `write` writes it piece by piece. Which folders it made."""
    with _said(path, advice), _in_folder(path.parent if folders else None) as made:
        _write(path, write)
        return made


@contextmanager
def _in_folder(folder: Path | None) -> Iterator[Sequence[Path]]:
    """Made for the body, where there is none; with those that it made. It goes again if the body fails."""
    made = make_folder(folder) if folder is not None else []
    try:
        yield made
    except BaseException:
        remove_folders(made)
        raise


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            write(file)
    else:
        _replace(path.resolve(), write)


def copy_folder(source: Path, target: Path, advice: str) -> None:
    """All files of `source`, at `target`: the user's own. FileError, also where something is there."""
    with _said(target, advice):
        if target.exists():
            raise FileExistsError(errno.EEXIST, "is there already", str(target))
        made = make_folder(target)
        try:
            for path in sorted(source.rglob("*")):
                new = target / path.relative_to(source)
                if path.is_dir():
                    new.mkdir()
                else:
                    shutil.copy(path, new)  # with its mode: labs have scripts
                give(new)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            remove_folders(made)
            raise


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """A file that is there keeps its permissions and its owner. Until it is whole it has no name, so that
    nothing is left of it, whatever ends this process; where the file system cannot do that, one beside."""
    if path.exists() and not os.access(path, os.W_OK, effective_ids=True):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}")
    before = path.stat() if path.exists() else None
    try:
        with _nameless(path.parent) or beside.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())  # some file systems say only here that they are full
            if before is not None:
                with suppress(OSError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            if not beside.exists():
                # Only with a descriptor of a folder does Python follow the link, as link(2) does not.
                os.link(f"/proc/self/fd/{file.fileno()}", beside, src_dir_fd=file.fileno())
        if before is None:
            give(beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _nameless(folder: Path) -> BinaryIO | None:
    """A file that goes with its last descriptor (open(2), O_TMPFILE); None: not there, or without /proc."""
    if not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+b")
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None
        raise


def _choose(option: str) -> str:
    return f"choose another place with {option}"
