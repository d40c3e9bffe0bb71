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

from weir.base.error import INTERRUPTED, OK
from weir.fabric.line_program import LineProgram
from weir.fabric.offer import cpus_beside
from weir.hosts.times import PROGRAM_ENDS_S, UNASKED_S

_LOOK_S = 1.0


class Courier:
    """One program."""

    def __init__(self, arguments: Sequence[str], unasked_s: float = UNASKED_S) -> None:
        """`arguments`: of this host's Python. FabricError if it cannot be executed."""
        self._program = LineProgram((sys.executable, *arguments), cpus_beside(os.sched_getaffinity(0)))
        self._unasked_s = unasked_s
        self._stopped = False
        self._sending = threading.Lock()
        self._early: dict[int, str] = {}
        self._next = 0
        self._asked_s = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def send(self, line: str, number: int | None = None) -> None:
        """Says something to it. `number`: which line it is, from 0: they are said in this order, in whichever
        they come: several threads bring them."""
        with self._sending:
            if number is None:
                self._program.send(line)
                return
            self._early[number] = line
            while self._next in self._early:
                self._program.send(self._early.pop(self._next))
                self._next += 1

    def poll(self, wait_s: float) -> tuple[list[str], str | None]:
        """What it has said, and why nothing comes any more; empty: it ended as it should; None: it runs."""
        self._asked_s = time.monotonic()
        before = self._program.code  # what it wrote before it ended is there by now
        lines = self._program.lines(wait_s)
        self._asked_s = time.monotonic()
        if lines or before is None:
            return lines, None
        if before == OK or (self._stopped and before == INTERRUPTED):
            return lines, ""
        how = f"exit code {before}" if before > 0 else f"signal {-before}"
        return lines, f"its weir ended with {how}: {self._program.said or 'without a word'}"

    def stop(self) -> None:
        """As Ctrl-C would."""
        self._stopped = True
        self._program.stop()

    def close(self) -> None:
        """Ends it, and waits for that."""
        self._program.close(PROGRAM_ENDS_S)

    def _watch(self) -> None:
        while self._program.code is None:
            if time.monotonic() - self._asked_s > self._unasked_s:
                self._program.close(PROGRAM_ENDS_S)
                return
            time.sleep(_LOOK_S)
