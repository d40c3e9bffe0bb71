# SPDX-License-Identifier: Apache-2.0
"""Any DPDK program as a peer: it sleeps between its turns, and its packets are counted by its telemetry."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from bench.pairs import SkipError

START_S = 20.0
SETTLE_S = 0.1
_RUNTIME = "/var/run/dpdk"  # where DPDK keeps the sockets of root's processes


class DpdkPeer:
    """A program that forwards from its start until its end, without pauses of its own."""

    def __init__(
        self,
        program: str,
        name: str,
        *,
        core: int,
        devargs: str,
        application: list[str],
        fed: bool = True,
    ) -> None:
        """At rest once it forwards. Not `fed`: once it has its port, where packets come later."""
        prefix = f"weir-bench-{name}"
        eal = ["-l", str(core), "--no-pci", "--in-memory", "-m", "256", f"--file-prefix={prefix}"]
        self._socket = Path(_RUNTIME, prefix, "dpdk_telemetry.v2")
        self._socket.unlink(missing_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="weir-bench-")
        self._log = Path(self._folder.name, "log")
        first = [program, "--dpdk"] if name == "fastclick" else [program]
        argv = [*first, *eal, f"--vdev={devargs}", "--", *application]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(argv, stdout=log, stderr=log)
        self._telemetry = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._connect(name, fed=fed)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self._pause()

    def _connect(self, name: str, *, fed: bool) -> None:
        give_up = time.monotonic() + START_S
        while time.monotonic() < give_up and self._process.poll() is None:
            try:
                self._telemetry.connect(str(self._socket))
            except OSError:
                time.sleep(0.05)
                continue
            self._telemetry.recv(65536)
            while self._process.poll() is None and fed and self._sent() == 0:
                time.sleep(0.05)
            if self._process.poll() is None:
                return
        last = self._log.read_text().strip().splitlines()[-1:]
        raise SkipError(f"{name} did not start: {' '.join(last)}")

    def _pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def _sent(self) -> int:
        """Packets that port 0 has sent; 0 before there is a port."""
        self._telemetry.send(b"/ethdev/stats,0")
        stats = json.loads(self._telemetry.recv(65536)).get("/ethdev/stats")
        return int(stats["opackets"]) if stats else 0

    def rate_pps(self, seconds: float) -> float:
        """Packets a second that port 0 sends, over so long."""
        with self.turn():
            time.sleep(SETTLE_S)
            began, before = time.monotonic(), self._sent()
            time.sleep(seconds)
            after, ended = self._sent(), time.monotonic()
        return (after - before) / (ended - began)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """It forwards during the body."""
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._pause()

    def __enter__(self) -> DpdkPeer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._telemetry.close()
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()
