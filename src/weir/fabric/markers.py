# SPDX-License-Identifier: Apache-2.0
"""Whose a process is: each of a deployment carries a marker in its environment, and only that marker ends it.

The marker is known before the process exists, so a kill between fork and journal leaves nothing unknown.
The kernel may hide the environment of another user's process: the journal's `Started` names it then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from weir.base.error import FabricError
from weir.base.started import Started
from weir.fabric import namespace

MARKER = "WEIR_RESOURCE"


def marked(
    marker: str, user: int | None = None, journalled: Mapping[Started, str] | None = None
) -> list[int]:
    """Pids of the processes that carry exactly this marker.

    `user`: who some of them may run as. `journalled`: markers of such processes, for where the kernel hides
    them. FabricError if it hides that of a process of the user's that is not among these.
    """
    return [pid for pid in _others() if _mark_of(pid, user, journalled or {}) == marker]


def _mark_of(pid: int, user: int | None, journalled: Mapping[Started, str]) -> str | None:
    try:
        return _environment_mark(pid, Path("/proc"))
    except PermissionError as error:
        started = Started.of(pid)
        if started is not None and started in journalled:
            return journalled[started]
        if user is not None and user_of(pid) == user:
            raise FabricError(
                f"the kernel hides whose process {pid} of user {user} is: {error.strerror}",
                "run this with the capability CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)",
            ) from error
    except OSError:
        pass  # it has ended
    return None


def user_of(pid: int) -> int | None:
    """As whom it runs; None: it has ended."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Uid:"))
    return None


def inside(*namespaces: str) -> list[int]:
    """Pids of the processes in these network namespaces; none of one that is not there."""
    there = set()
    for one in namespaces:
        with suppress(FileNotFoundError):
            there.add(_identity((namespace.DIRECTORY / one).stat()))
    found = []
    for pid in _others() if there else ():
        with suppress(OSError):
            if _identity(Path(f"/proc/{pid}/ns/net").stat()) in there:
                found.append(pid)
    return found


def _identity(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino


def _others() -> list[int]:
    pids = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [pid for pid in pids if pid != os.getpid()]


def mark_of(pid: int, proc: Path = Path("/proc")) -> str | None:
    """The marker of a process or thread: its deployment, a slash and its step. None of others."""
    with suppress(OSError):
        return _environment_mark(pid, proc)
    return None


def _environment_mark(pid: int, proc: Path) -> str | None:
    start = f"{MARKER}=".encode()
    for variable in (proc / str(pid) / "environ").read_bytes().split(b"\0"):
        if variable.startswith(start):
            return variable.removeprefix(start).decode(errors="replace")
    return None
