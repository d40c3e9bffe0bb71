# SPDX-License-Identifier: Apache-2.0
"""A program that is waited for: it gets what only it may know by a descriptor, and ends with all that it
started."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import ending, process, stop_signals

_LOOK_S = 0.1


def attend(
    name: str,
    words: Sequence[str],
    *,
    secret: bytes,
    marker: str,
    environment: dict[str, str],
    log: Path,
    directory: Path,
    within_s: float,
) -> int:
    """Runs it, which errors call `name`, to its end, and returns its exit code; negative: the signal that
    ended it. Its last word is the number of a descriptor that `secret` can be read from: it is on no disk and
    in no list of processes. FabricError if it does not begin, or does not end in time; Ctrl-C. Nothing of it
    runs afterwards."""
    memory = os.memfd_create("weir-secret", 0)
    try:
        os.write(memory, secret)
        os.lseek(memory, 0, os.SEEK_SET)
        end_s = time.monotonic() + within_s
        pid = process.spawn(
            [*words, str(memory)], marker=marker, netns=None, env=environment, cores=[], log=log,
            descriptors=(memory,), directory=directory,
        )  # fmt: skip
    finally:
        os.close(memory)
    try:
        while (code := process.exit_code(pid)) is None:
            stop_signals.check()
            if time.monotonic() > end_s:
                raise FabricError(f"{name} has not ended within {within_s:.0f} s")
            time.sleep(_LOOK_S)
        return code
    finally:
        end(marker)


def end(marker: str) -> None:
    """All that carries the marker: what such a program started too, and one that an ended Weir left."""
    ending.end_marked(marker)
