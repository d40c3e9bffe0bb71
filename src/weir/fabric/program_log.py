# SPDX-License-Identifier: Apache-2.0
"""What programs have written to their logs, as it may be shown."""

from __future__ import annotations

import re
from pathlib import Path

LAST_LINES = 4
_CONTROLS = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[()].|.)")


def printable(line: str) -> str:
    """One line of a log as it may be shown, without blanks at its ends: a guest or a program could send
    controls of a terminal to whoever reads it."""
    return "".join(one for one in _CONTROLS.sub("", line) if one.isprintable()).strip()


def log_end(log: Path, lines: int = LAST_LINES) -> str:
    """The last lines of a process's log, in one."""
    said = log.read_text(errors="replace").splitlines() if log.exists() else []
    return " | ".join(said[-lines:]) or "it said nothing"
