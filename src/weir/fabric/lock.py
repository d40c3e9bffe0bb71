# SPDX-License-Identifier: Apache-2.0
"""Locks between Weirs: files that only their owner can open, so that nobody else can hold one; and folders
in which something is made, each with such a lock, by which what a killed maker left is known."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.removal import remove_tree

LOCK_SUFFIX = ".lock"
_PAUSE_S = 0.01
_LOCKS = Path("/proc/locks")
_MOUNTS = Path("/proc/self/mountinfo")
"""proc_locks(5): a line each, device and inode before the range."""
_SCRATCH_WAIT_S = 30.0
"""Nobody has the lock of a place for longer than it takes to remove what killed ones have left."""


class Lock:
    """A file that is there while somebody holds the lock, or was killed with it. It ends with the process,
    too; a child holds it between fork and exec."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def take(self, wait_s: float = 0.0) -> bool:
        """False if another process still holds it after that time. FabricError if it is another user's, or
        cannot be made."""
        deadline = time.monotonic() + wait_s
        while self._fd is None:
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except PermissionError as error:
                raise FabricError(
                    f"{self.path} is another user's", "run this as root or with sudo"
                ) from error
            except OSError as error:
                raise self._not_taken(error) from error
            try:
                if _held(descriptor) and self._is(descriptor):
                    self._fd = descriptor
                    return True
            except OSError as error:
                raise self._not_taken(error) from error
            finally:
                if self._fd is None:
                    os.close(descriptor)
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        return True

    def is_held(self) -> bool:
        """Whether anybody has it: for users who may not take it, from what the kernel tells everybody."""
        with suppress(OSError):
            number = f"{_device(self.path)}:{self.path.stat().st_ino}"
            held = (line.split() for line in _LOCKS.read_text().splitlines())
            return any("FLOCK" in words and words[-3] == number for words in held)
        return False

    def reserve(self, size_bytes: int) -> None:
        """Space that `give_up_space` frees. OSError if there is none."""
        assert self._fd is not None
        os.posix_fallocate(self._fd, 0, size_bytes)

    def write(self, text: str) -> None:
        """What whoever finds it taken may read. It is taken where nothing can be written, too."""
        assert self._fd is not None
        with suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text.encode(), 0)

    def give_up_space(self) -> None:
        """For what must be written now."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)

    def release(self, *, gone: bool = True) -> None:
        """Lets it go. `gone`: the file goes too; one that does not go is held by nobody. Without effect if it
        is not held."""
        if self._fd is None:
            return
        if gone:
            with suppress(OSError):
                self.path.unlink()
        os.close(self._fd)
        self._fd = None

    def _not_taken(self, error: OSError) -> FabricError:
        return FabricError(
            f"cannot lock {self.path}: {error.strerror}", f"look at {self.path.parent}: its space, its rights"
        )

    def _is(self, descriptor: int) -> bool:
        """Whether the file is still the one of that name: who held it before may have removed it."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def _held(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def scratch(place: Path, prefix: str) -> Iterator[Path]:
    """A folder for the body; those whose maker was killed, and so holds their lock no more, are removed.

    FabricError if another maker does not get on.
    """
    with ExitStack() as held:
        with _locked(place / f"{prefix}all{LOCK_SUFFIX}"):
            _removed(place, prefix)
            made = Path(held.enter_context(tempfile.TemporaryDirectory(prefix=prefix, dir=place)))
            held.enter_context(_locked(_of(made)))
        yield made


def remove_left(place: Path, prefix: str) -> list[Path]:
    """Those folders whose makers were killed, which are gone now. None where a maker is at that itself, or
    another user is."""
    if not any(place.glob(f"{prefix}*/")):
        return []
    lock = Lock(place / f"{prefix}all{LOCK_SUFFIX}")
    with suppress(FabricError):
        if lock.take():
            try:
                return _removed(place, prefix)
            finally:
                lock.release()
    return []


def left(place: Path, prefix: str) -> list[Path]:
    """Those that `remove_left` would look at and nobody holds."""
    return [folder for folder in sorted(place.glob(f"{prefix}*/")) if not Lock(_of(folder)).is_held()]


def _removed(place: Path, prefix: str) -> list[Path]:
    return [left for left in sorted(place.glob(f"{prefix}*/")) if _remove_if_left(left)]


def _of(folder: Path) -> Path:
    return folder.with_name(folder.name + LOCK_SUFFIX)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = Lock(path)
    if not lock.take(_SCRATCH_WAIT_S):
        raise FabricError(f"another weir holds {path}", "end it, or try again when it has ended")
    try:
        yield
    finally:
        lock.release()


def _remove_if_left(folder: Path) -> bool:
    lock = Lock(_of(folder))
    with suppress(FabricError):  # another user's: it is theirs to remove
        if lock.take():
            with suppress(OSError):
                remove_tree(folder)
            lock.release()
            return not folder.exists()
    return False


def _device(path: Path) -> str:
    """Of the file system that it is on, as /proc/locks writes it. OSError. Not `st_dev`, which is another one
    of file systems with parts (overlayfs, btrfs); the file itself may be another user's."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        about = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    finally:
        os.close(descriptor)
    mount = next(line.split()[1] for line in about.splitlines() if line.startswith("mnt_id:"))
    for line in _MOUNTS.read_text().splitlines():
        number, _, device, *_ = line.split()
        if number == mount:
            major, minor = map(int, device.split(":"))
            return f"{major:02x}:{minor:02x}"
    raise FileNotFoundError(path)
