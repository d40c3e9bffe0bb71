# SPDX-License-Identifier: Apache-2.0
"""A peer at a pseudo-terminal of its own: started, typed to, read up to its prompt, ended.

On a pipe a prompt and buffered output come out of order, and Pktgen does not start at all.
"""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

END_S = 10.0


class Terminal:
    """One process, its prompt known."""

    def __init__(self, argv: list[str], prompt: bytes) -> None:
        self._prompt = prompt
        self._name = Path(argv[0]).name
        self._seen = bytearray()
        self._end, child = pty.openpty()
        self._process = subprocess.Popen(argv, stdin=child, stdout=child, stderr=child)
        os.close(child)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def read_to_prompt(self, prompts: int = 1) -> str:
        """What it prints up to the end of that many prompts. RuntimeError if it ends before."""
        self._seen.clear()
        while self._seen.count(self._prompt) < prompts:
            try:
                self._seen += os.read(self._end, 4096)
            except OSError as error:  # EIO: the child closed the terminal
                said = self._seen.decode(errors="replace")
                raise RuntimeError(f"{self._name} ended early:\n{said}") from error
        return self._seen.decode(errors="replace")

    def type(self, text: str) -> None:
        """One line, as from the keyboard."""
        os.write(self._end, text.encode() + b"\n")

    def close(self, farewell: str = "") -> None:
        """Ends it: by that command where there is one, else, or if it does not obey, by force."""
        try:
            if farewell:
                self.type(farewell)
                self._process.wait(timeout=END_S)
        except (subprocess.TimeoutExpired, OSError):
            pass
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._end)
