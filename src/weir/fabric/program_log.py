# SPDX-License-Identifier: Apache-2.0
"""What programs have written to their logs, as it may be shown."""

from __future__ import annotations

import os
import re
from pathlib import Path

LAST_LINES = 4
LINE_LONGEST = 400
_END_BYTES = 1 << 16
MORE = "[weir: what was said after the first {bytes} bytes is not kept]"
BEGINNING = (
    f"> >(stdbuf -o0 head -c {{bytes}}; read -rN1 && printf '\\n%s\\n' '{MORE}'; exec cat > /dev/null) 2>&1"
)
"""Words of bash: of all that is said the beginning goes on, and the rest nowhere, which a last line says;
nobody is stopped."""
_CONTROLS = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[()].|.)")


def printable(line: str) -> str:
    """One line of a log as it may be shown, without blanks at its ends: a guest or a program could send
    controls of a terminal to whoever reads it."""
    return "".join(one for one in _CONTROLS.sub("", line) if one.isprintable()).strip()


def log_end(log: Path, lines: int = LAST_LINES) -> str:
    """The last lines of a process's log, in one, and of a long line its beginning."""
    said = end_lines(log)[-lines:] if log.exists() else []
    return " | ".join(map(_shortened, said)) or "it said nothing"


def end_lines(log: Path) -> list[str]:
    """Those in the last part of a log that may be of any size. OSError."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _END_BYTES))
        return file.read().decode(errors="replace").splitlines()


def _shortened(line: str) -> str:
    return line if len(line) <= LINE_LONGEST else f"{line[:LINE_LONGEST]}…"
