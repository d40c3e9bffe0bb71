# SPDX-License-Identifier: Apache-2.0
"""Which network namespaces there are: those with a name, and those of processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyroute2 import netns

from weir.fabric import namespace
from weir.fabric.program_log import printable

HOST = "host"
ONLY_ROOT = "only root may look at it"
_OWN = Path("/proc/thread-self/ns/net")
_FORWARDS = Path("/proc/sys/net/ipv4/ip_forward")


@dataclass
class Place:
    """A namespace, and a file by which it can be entered."""

    inode: int
    name: str
    path: Path
    pids: list[int] = field(default_factory=list)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The calling thread is there for the body. OSError if it may not, or it is gone."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            home = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
            try:
                if os.fstat(descriptor).st_ino != os.fstat(home).st_ino:
                    netns.setns(descriptor, flags=0)
                yield
            finally:
                if os.fstat(descriptor).st_ino != os.fstat(home).st_ino:
                    netns.setns(home, flags=0)
                os.close(home)
        finally:
            os.close(descriptor)


def places() -> tuple[list[Place], list[str]]:
    """This process's namespace first, then those with names, then others; and what could not be looked at."""
    own = Place(_OWN.stat().st_ino, HOST, _OWN)
    found = {own.inode: own}
    unseen = []
    named = sorted(namespace.DIRECTORY.iterdir()) if namespace.DIRECTORY.is_dir() else []
    for path in named:
        inode = _namespace_inode(path)
        if inode is None:
            unseen.append(f"network namespace {printable(path.name)}: cannot be opened")
        elif inode not in found:
            found[inode] = Place(inode, printable(path.name), path)
    hidden = _by_process(found)
    if hidden:
        whose = "process" if hidden == 1 else "processes"
        mend = ": run as root to see them" if os.geteuid() else ", which not even root may see here"
        unseen.append(f"network namespaces of {hidden} {whose}{mend}")
    return list(found.values()), unseen


def _namespace_inode(path: Path) -> int | None:
    """None of a file on which no namespace is mounted."""
    with suppress(OSError):
        there, around = path.stat(), path.parent.stat()
        if there.st_dev != around.st_dev:
            return there.st_ino
    return None


def _by_process(found: dict[int, Place]) -> int:
    """Adds the rest, and who is in each; returns how many processes hide theirs."""
    hidden = 0
    for pid in sorted(int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()):
        path = Path(f"/proc/{pid}/ns/net")
        try:
            inode = path.stat().st_ino
        except PermissionError:
            hidden += 1
            continue
        except OSError:
            continue  # it has ended
        if inode not in found:
            found[inode] = Place(inode, f"{command(pid)} ({pid})", path)
        found[inode].pids.append(pid)
    return hidden


def command(pid: int) -> str:
    """A process's name: whatever it calls itself, cut at 15 bytes."""
    try:
        return printable(Path(f"/proc/{pid}/comm").read_bytes().decode(errors="replace")) or "?"
    except OSError:
        return "?"


def forwards() -> bool | None:
    """Whether the namespace that this thread is in routes IPv4."""
    try:
        return _FORWARDS.read_text().strip() == "1"
    except OSError:
        return None
