# SPDX-License-Identifier: Apache-2.0
"""Network namespaces as `ip netns` names them (/run/netns/NAME), and working inside one."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyroute2 import config, netns

config.default_communicate_timeout = 60
"""Seconds: while the kernel takes many namespaces down it makes none."""
DIRECTORY = Path("/run/netns")
_TEMPORARY, _SYS = Path("/tmp"), Path("/sys")
_HERE = "/proc/thread-self/ns/net"
_CLONE_NEWNS = 0x20000  # <linux/sched.h>, <linux/mount.h>
_MS_BIND, _MS_REC, _MS_SLAVE = 1 << 12, 1 << 14, 1 << 19
_libc = ctypes.CDLL(None, use_errno=True)


def enter(name: str) -> None:
    """Moves the calling thread into the namespace of that name."""
    _set(str(DIRECTORY / name), flags=0)


def _set(namespace: str | int, **flags: int) -> None:
    while True:
        with suppress(InterruptedError):  # ctypes does not try again, as Python's own calls do
            netns.setns(namespace, **flags)
            return


@contextmanager
def _and_back() -> Iterator[None]:
    home = os.open(_HERE, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        _set(home)
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
        if _libc.unshare(netns.CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare of the network namespace")
        yield


def own_mounts() -> None:
    """What this process, and what it becomes, mounts from now on nobody else sees. OSError if it may not."""
    if _libc.unshare(_CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare of the mount namespace")
    _mount(None, Path("/"), _MS_REC | _MS_SLAVE)


def bind(source: Path, target: Path) -> None:
    """`source` is seen in place of `target`. After `own_mounts`."""
    _mount(source, target, _MS_BIND)


def own_sys() -> None:
    """/sys is of the network namespace that this process is in. After `own_mounts`. OSError if it may not."""
    _mount(Path("sysfs"), _SYS, 0, b"sysfs")


def own_temporary(directory: Path, kept: Path) -> None:
    """This process, and what it becomes, sees `directory` in place of /tmp, and `kept` where it is. OSError
    if it may not."""
    own_mounts()
    stays = os.open(kept, os.O_PATH | os.O_CLOEXEC)
    bind(directory, _TEMPORARY)
    if kept.is_relative_to(_TEMPORARY):
        kept.mkdir(parents=True, exist_ok=True)
        bind(Path(f"/proc/self/fd/{stays}"), kept)
    os.close(stays)


def _mount(source: Path | None, target: Path, flags: int, kind: bytes | None = None) -> None:
    from_ = None if source is None else os.fsencode(source)
    if _libc.mount(from_, os.fsencode(target), kind, ctypes.c_ulong(flags), None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), str(target))


def create(name: str) -> None:
    """A new namespace of that name. FileExistsError if there is one."""
    netns.create(str(DIRECTORY / name))


def delete(name: str) -> None:
    """The name goes, and with it everything in the namespace that no process holds."""
    with suppress(FileNotFoundError):
        netns.remove(str(DIRECTORY / name))
