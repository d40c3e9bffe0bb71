# SPDX-License-Identifier: Apache-2.0
"""Network namespaces as `ip netns` names them (/run/netns/NAME), and working inside one."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DIRECTORY = Path("/run/netns")
CLONE_NEWNET = 0x40000000
_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_SHARED = 1 << 20
_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)
_HERE = "/proc/thread-self/ns/net"


def _checked(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """unshare(2) for the calling thread."""
    _checked(_libc.unshare(flags), "unshare")


def enter(name: str) -> None:
    """Moves the calling thread into the namespace of that name."""
    fd = os.open(DIRECTORY / name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _checked(_libc.setns(fd, CLONE_NEWNET), f"setns {name}")
    finally:
        os.close(fd)


@contextmanager
def _and_back() -> Iterator[None]:
    home = os.open(_HERE, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        _checked(_libc.setns(home, CLONE_NEWNET), "setns")
        os.close(home)


@contextmanager
def inside(name: str) -> Iterator[None]:
    """The calling thread is in the namespace for the body. Sockets made there stay there."""
    with _and_back():
        enter(name)
        yield


@contextmanager
def nameless() -> Iterator[None]:
    """The calling thread is in a new namespace for the body; it goes with the last socket made in it."""
    with _and_back():
        unshare(CLONE_NEWNET)
        yield


def _shared_directory() -> None:
    """As `ip netns` does before its first namespace; later it would hide the names that are there already."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    target = bytes(DIRECTORY)
    if _libc.mount(b"", target, b"none", _MS_SHARED | _MS_REC, None) == 0:
        return
    _checked(_libc.mount(target, target, b"none", _MS_BIND | _MS_REC, None), f"mount {DIRECTORY}")
    _checked(_libc.mount(b"", target, b"none", _MS_SHARED | _MS_REC, None), f"mount {DIRECTORY}")


def create(name: str) -> None:
    """A new namespace of that name. FileExistsError if there is one."""
    _shared_directory()
    path = DIRECTORY / name
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))
    with nameless():
        _checked(_libc.mount(_HERE.encode(), bytes(path), b"none", _MS_BIND, None), f"mount {path}")


def delete(name: str) -> None:
    """The name goes, and with it everything in the namespace that no process holds."""
    path = DIRECTORY / name
    _libc.umount2(bytes(path), _MNT_DETACH)
    with suppress(FileNotFoundError):
        path.unlink()
