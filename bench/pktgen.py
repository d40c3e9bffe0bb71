# SPDX-License-Identifier: Apache-2.0
"""Pktgen-DPDK 23.06.1 as a peer: one process that sends at 100 % whenever it is not suspended.

Its command line and its display spin on a thread each. They get a core's leftovers only (SCHED_IDLE), or the
receiver on the other core would lose half its time to them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.pairs import SkipError
from bench.terminal import Terminal

VARIABLE = "PKTGEN"
PROMPT = b"Pktgen:/> "
MEMORY_MB = 1536  # five pools of 24,576 buffers of 10 KiB
WORKER = "rte-worker"
SPINNING_S = 0.2


def program() -> Path:
    """The binary that the environment names. SkipError if there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise SkipError(f"no Pktgen given; `make bench {VARIABLE}=/path/to/pktgen` (Pktgen-DPDK 23.06.1)")
    if not os.access(named, os.X_OK):
        raise SkipError(f"{VARIABLE}={named} is no program")
    return Path(named)


class Pktgen:
    """Pktgen on one port and one polling CPU. Its packets: one fixed frame of 64 bytes, or as told."""

    def __init__(self, *, core: int, devargs: str, commands: tuple[str, ...] = ()) -> None:
        eal = [
            str(program()),
            f"--lcores=0@(0-1),1@{core}",
            "--in-memory",
            "--single-file-segments",
            "--no-pci",
            "--no-telemetry",
            "--file-prefix=weir-bench-pktgen",
            "-m",
            str(MEMORY_MB),
            f"--vdev={devargs}",
        ]
        self._terminal = Terminal([*eal, "--", "-m", "1.0"], PROMPT)
        try:
            self._terminal.read_to_prompt()
            for command in ("set 0 rate 100", *commands, "start 0"):
                self._terminal.type(command)
                self._terminal.read_to_prompt()
            time.sleep(SPINNING_S)
            self._yield_cores()
        except BaseException:
            self._terminal.close()
            raise
        self._signal(signal.SIGSTOP)

    def _yield_cores(self) -> None:
        for task in Path(f"/proc/{self._terminal.pid}/task").iterdir():
            if not (task / "comm").read_text().startswith(WORKER):
                os.sched_setscheduler(int(task.name), os.SCHED_IDLE, os.sched_param(0))

    def _signal(self, number: signal.Signals) -> None:
        os.kill(self._terminal.pid, number)

    @contextmanager
    def sending(self) -> Iterator[None]:
        """It sends during the body. Its screen is not read any more, so the display waits."""
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)

    def close(self) -> None:
        """Ends it. In memory: nothing stays behind."""
        self._terminal.close()
