# SPDX-License-Identifier: Apache-2.0
"""Writes what comes through a pipe to a log that stays small: a program of its own, for consoles.

`console_log.py DESCRIPTOR PATH LIMIT_BYTES`. At the limit the log becomes PATH.before, and a new one
begins and says so; where no file can be opened, the log itself is emptied. What does not fit on the disk is
counted and said later: whoever writes is never held up.
Knows nothing of Weir, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

READ_BYTES = 65536
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def main(source: int, path: str, limit_bytes: int) -> None:
    """Until the last writer is gone."""
    size = lost = kept = cut = 0
    out = os.open(path, FLAGS, 0o600)
    while data := os.read(source, READ_BYTES):
        if size + len(data) > limit_bytes and size > 0:
            cut, kept = cut + kept, 0
            new = _next(path)
            if new is None:
                with contextlib.suppress(OSError):
                    os.ftruncate(out, 0)
                where = b""
            else:
                os.close(out)
                out, where = new, b"; the last of them are in .before"
            size = _written(out, b"[weir: %d bytes are cut off%b]\n" % (cut, where))
        if lost:
            told = _written(out, b"\n[weir: %d bytes had no space on the disk]\n" % lost)
            size += told
            lost = 0 if told else lost
        done = _written(out, data)
        size += done
        kept += done
        lost += len(data) - done


def _next(path: str) -> int | None:
    """A new log in place of that one, which becomes PATH.before; None, and all as it was, if it fails."""
    try:
        new = os.open(f"{path}.next", FLAGS | os.O_TRUNC, 0o600)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        Path(path).replace(f"{path}.before")
    with contextlib.suppress(OSError):
        Path(f"{path}.next").replace(path)
    return new


def _written(out: int, data: bytes) -> int:
    try:
        return os.write(out, data)
    except OSError:
        return 0


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
