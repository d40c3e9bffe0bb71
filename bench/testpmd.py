# SPDX-License-Identifier: Apache-2.0
"""DPDK's testpmd as a peer: one process per forwarding mode, started and stopped by its own prompt."""

from __future__ import annotations

import re
import shutil
import time
from types import TracebackType

from bench.pairs import SkipError
from bench.terminal import Terminal

PROMPT = b"testpmd> "


class Testpmd:
    """testpmd with its forwarding loop on one CPU, idle between two calls of `rate_pps`."""

    def __init__(self, mode: str, *, core: int, devargs: list[str], options: list[str] | None = None) -> None:
        program = shutil.which("dpdk-testpmd")
        if program is None:
            raise SkipError("dpdk-testpmd is not installed (Debian package dpdk)")
        eal = [
            program,
            "--lcores=0@(0-1),1@" + str(core),
            "--in-memory",
            "--no-pci",
            "--no-telemetry",
            f"--file-prefix=weir-bench-{mode}",
            *(f"--vdev={each}" for each in devargs),
        ]
        application = [
            "-i",
            "--nb-cores=1",
            f"--forward-mode={mode}",
            "--total-num-mbufs=32768",
            *(options or []),
        ]
        self._terminal = Terminal([*eal, "--", *application], PROMPT)
        self._terminal.read_to_prompt()

    def command(self, text: str) -> str:
        """Types one command and returns what it printed."""
        self._terminal.type(text)
        return self._terminal.read_to_prompt()

    def rate_pps(self, seconds: float, *, direction: str = "Tx", port: int = 0) -> float:
        """Packets a second on that port, by testpmd's own clock, over `seconds` of forwarding."""
        self.command("start")
        time.sleep(0.05)
        self.command(f"show port stats {port}")
        time.sleep(seconds)
        shown = self.command(f"show port stats {port}")
        self.command("stop")
        found = re.search(rf"{direction}-pps:\s+(\d+)", shown)
        if found is None:
            raise RuntimeError(f"testpmd printed no {direction}-pps:\n{shown}")
        return float(found.group(1))

    def __enter__(self) -> Testpmd:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._terminal.close("quit")
