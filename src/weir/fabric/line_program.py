# SPDX-License-Identifier: Apache-2.0
"""A program that is talked to in lines: it reads them from its standard input and writes them to its standard
output. That its input ends, however that comes, tells it to end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import suppress

from weir.base.error import FabricError

_READ_BYTES = 1 << 16
_SAID_BYTES = 2000
_LOOK_S = 0.05


class LineProgram:
    """One, in a session of its own. Its methods may be called by several threads, each by one at a time."""

    def __init__(self, words: Sequence[str], cpus: Collection[int] = ()) -> None:
        """`cpus`: where it may run; empty: where this process does. FabricError if it cannot be executed."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the program
        try:
            self._process = subprocess.Popen(
                list(words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                start_new_session=True,
            )
        except OSError as error:
            raise FabricError(f"cannot start {words[0]}: {error.strerror}", "install it") from error
        if cpus:  # before it can have a second thread, which would keep its own
            with suppress(ProcessLookupError):
                os.sched_setaffinity(self._process.pid, cpus)
        self._rest = b""
        self._writing = threading.Lock()

    def send(self, line: str) -> None:
        """Without effect on one that has ended."""
        assert self._process.stdin is not None
        with self._writing, suppress(OSError, ValueError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def lines(self, wait_s: float) -> list[str]:
        """Those that it has written since; waits for the first of them, so long at most, or for its end."""
        assert self._process.stdout is not None
        source, until_s = self._process.stdout.fileno(), time.monotonic() + wait_s
        whole: list[str] = []
        while True:
            left_s = 0.0 if whole else max(0.0, until_s - time.monotonic())
            if not select.select([source], [], [], left_s)[0]:
                return whole
            read = os.read(source, _READ_BYTES)
            if not read:
                time.sleep(0 if whole or self.code is not None else min(_LOOK_S, left_s))
                return whole
            *complete, self._rest = (self._rest + read).split(b"\n")
            whole += [one.decode(errors="replace") for one in complete]

    @property
    def code(self) -> int | None:
        """Its exit code; negative: the signal that ended it; None: it runs."""
        return self._process.poll()

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    @property
    def said(self) -> str:
        """The end of what it has written to standard error."""
        self._said.seek(max(0, os.fstat(self._said.fileno()).st_size - _SAID_BYTES))
        return self._said.read().decode(errors="replace").strip()

    def stop(self) -> None:
        """As Ctrl-C would: it takes down what it has built, and ends."""
        if self.code is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGTERM)

    def close(self, within_s: float) -> None:
        """Ends its input and waits so long for its end, then kills it: what it leaves then, its lifeline
        takes down. Without effect the second time."""
        assert self._process.stdin is not None
        until_s = time.monotonic() + within_s
        if self._writing.acquire(timeout=within_s):  # a program that reads nothing may keep another in `send`
            try:
                with suppress(OSError, ValueError):
                    self._process.stdin.close()
            finally:
                self._writing.release()
        try:
            self._process.wait(max(0.0, until_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
