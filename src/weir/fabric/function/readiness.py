# SPDX-License-Identifier: Apache-2.0
"""When a user's program is ready: by what it says, by its sockets, or by having run for a while."""

from __future__ import annotations

import errno
import os
import re
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

LIVES_S = 0.5
"""So long it must have run where nothing tells that it is ready."""


class Readiness:
    """Of one program. `params`: of its step; `facts`: `ready`, what a line must match, and `socket`,
    that must take connections, either may be empty; and `makes`, sockets of its ports, which weir-dp or a
    switch connects to."""

    def __init__(self, params: Mapping[str, Any], facts: Mapping[str, Any], log: Path) -> None:
        self._listens = Path(str(params["directory"]), str(facts["socket"])) if facts["socket"] else None
        self._is_taken = False
        """By it: each connection stays in its queue until it accepts it, so there is one."""
        self._makes = [Path(str(one)) for one in facts["makes"]]
        self._ready = str(facts["ready"])
        self._wanted = re.compile(self._ready) if self._ready else None
        self._began = time.monotonic()
        self._said, self._has_said = _Said(log), False

    def lacks(self) -> tuple[str, str] | None:
        """What it has not done yet, and the key of the lab that says so; None: it is ready."""
        if not self._has_said:
            lives = self._listens is not None or time.monotonic() - self._began > LIVES_S
            self._has_said = self._said.matches(self._wanted) if self._wanted is not None else lives
        if not self._has_said:
            return f"has not said {self._ready!r}", "program.ready"
        self._is_taken = self._is_taken or self._listens is None or _takes_connections(self._listens)
        if not self._is_taken:
            return f"takes no connections at {self._listens}", "program.ready_socket"
        # That they are there, no more: a port takes one connection, and that is its peer's.
        for path in self._makes:
            if not path.exists():
                return f"makes no socket at {path}", "program.command: {eal}, or {left.vdev} and {right.vdev}"
        return None


def _takes_connections(path: Path) -> bool:
    """By its directory: the program may have bound a short name there, and a path has 107 bytes at most."""
    with suppress(OSError), ExitStack() as opened:
        directory = os.open(path.parent, os.O_PATH | os.O_CLOEXEC)
        opened.callback(os.close, directory)
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            attempt = opened.enter_context(socket.socket(socket.AF_UNIX, kind))
            attempt.setblocking(False)  # where it accepts nobody yet, and its queue is full
            if attempt.connect_ex(f"/proc/self/fd/{directory}/{path.name}") in (0, errno.EAGAIN):
                return True
    return False


class _Said:
    """What it has said, read once as it grows."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._at = 0
        self._last = ""
        """A line that has not ended."""

    def matches(self, wanted: re.Pattern[str]) -> bool:
        """Whether one of the lines that are new does, or the one that has not ended."""
        with self._log.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        *whole, self._last = (self._last + new.decode(errors="replace")).split("\n")
        return any(wanted.search(line) for line in (*whole, self._last))
