# SPDX-License-Identifier: Apache-2.0
"""On a host: starts the program that measures, and hands its lines over to whoever asks.

The program is a process of its own. So what carries the lines, such as Ray with its threads, is not in the
process that measures, and may run on other cores.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence

from weir.fabric.line_program import LineProgram
from weir.fabric.offer import cpus_beside

SILENT_S = 30.0
"""So long nobody has asked: the head is gone, or cannot be reached. The program is stopped."""
ENDING_S = 60.0
"""The longest that taking down may take."""
_LOOK_S = 1.0


class Courier:
    """One program."""

    def __init__(self, arguments: Sequence[str], silent_s: float = SILENT_S) -> None:
        """`arguments`: of this host's Python. FabricError if it cannot be executed."""
        self._program = LineProgram((sys.executable, *arguments), cpus_beside(os.sched_getaffinity(0)))
        self._silent_s = silent_s
        self._asked_s = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def send(self, line: str) -> None:
        """Says something to it."""
        self._program.send(line)

    def poll(self, wait_s: float) -> tuple[list[str], str | None]:
        """What it has said, and why nothing comes any more; empty: it ended as it should; None: it runs."""
        self._asked_s = time.monotonic()
        before = self._program.code  # what it wrote before it ended is there by now
        lines = self._program.lines(wait_s)
        self._asked_s = time.monotonic()
        if lines or before is None:
            return lines, None
        if before == 0:
            return lines, ""
        how = f"exit code {before}" if before > 0 else f"signal {-before}"
        return lines, f"its weir ended with {how}: {self._program.said or 'without a word'}"

    def stop(self) -> None:
        """As Ctrl-C would."""
        self._program.stop()

    def close(self) -> None:
        """Ends it, and waits for that."""
        self._program.close(ENDING_S)

    def _watch(self) -> None:
        while self._program.code is None:
            if time.monotonic() - self._asked_s > self._silent_s:
                self._program.close(ENDING_S)
                return
            time.sleep(_LOOK_S)
