# SPDX-License-Identifier: Apache-2.0
"""Waiting until a process that was started answers at its socket."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from weir.fabric import interrupts, process
from weir.fabric.errors import FabricError

START_S = 30.0
LAST_LINES = 4


def wait_for(name: str, path: Path, pid: int, log: Path) -> None:
    """Returns when the process accepts connections at `path`; that the file is there is not enough.

    FabricError with the end of its log if it has ended, or does not within START_S.
    """
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
            try:
                attempt.connect(str(path))
            except OSError:
                pass
            else:
                return
        if not process.alive(pid):
            break
        interrupts.check()
        time.sleep(0.01)
    raise FabricError(f"{name} does not start: {log_end(log)}", f"its log: {log}")


def log_end(log: Path, lines: int = LAST_LINES) -> str:
    """The last lines of a process's log, in one."""
    said = log.read_text(errors="replace").splitlines() if log.exists() else []
    return " | ".join(said[-lines:]) or "it said nothing"
