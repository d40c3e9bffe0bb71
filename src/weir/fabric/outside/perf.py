# SPDX-License-Identifier: Apache-2.0
"""perf, which samples stacks while a trial runs.

It is started before the trial with its events off, and switched on and off through a pipe, so that its start
is not in the trial. Its process is marked as one of the deployment's: it ends with it, whatever happens.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import process
from weir.fabric.outside.stacks import RATE_HZ

_ANSWER_S = 5.0
_END_S = 10.0
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_HIDDEN = Path("/proc/sys/kernel/kptr_restrict")
_WANTED = "or leave `measure: {sample_stacks: true}` out of the lab"


def require_perf() -> None:
    """FabricError where stacks cannot be sampled here."""
    if shutil.which("perf") is None:
        raise FabricError("perf is not installed, which samples stacks", f"apt install linux-perf, {_WANTED}")
    level = _number(_PARANOID)
    if os.geteuid() != 0 and level > -1:
        raise FabricError(
            f"perf_event_paranoid is {level}: only root may sample all cores", f"run as root, {_WANTED}"
        )
    if _number(_HIDDEN) > 1:
        raise FabricError(
            "kptr_restrict is 2: the kernel hides the names of its functions",
            f"sysctl kernel.kptr_restrict=1, {_WANTED}",
        )


def _number(path: Path) -> int:
    """Below every level where the kernel does not say."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return -1


class Perf:
    """One recording. Files lie in `directory`, which somebody else removes."""

    def __init__(self, directory: Path, marker: str) -> None:
        self._data = directory / "perf.data"
        self._orders, self._answers = directory / "perf.orders", directory / "perf.answers"
        for path in (self._orders, self._answers):
            path.unlink(missing_ok=True)
            os.mkfifo(path)
        # Read-write: so opening waits for nobody.
        self._order, self._answer = (
            os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in (self._orders, self._answers)
        )
        self._log = directory / "perf.log"
        argv = [
            "perf",
            "record",
            "-q",
            "-e",
            "cpu-clock",
            "-F",
            str(RATE_HZ),
            "-a",
            "-g",
            "--kernel-callchains",
        ]
        argv += ["-D", "-1", "--control", f"fifo:{self._orders},{self._answers}", "-o", str(self._data)]
        self._pid = process.spawn(argv, marker=marker, netns=None, env={}, cores=[], log=self._log)

    def begin(self) -> None:
        """From now on. FabricError if perf does not."""
        self._say("enable")

    def pause(self) -> None:
        """No further."""
        self._say("disable")

    def end(self) -> str:
        """What `perf script` says of the time between. FabricError if there is nothing."""
        self.close()
        argv = ["perf", "script", "-i", str(self._data), "-F", "comm,tid,cpu,ip,sym"]
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
        self._data.unlink(missing_ok=True)
        if done.returncode != 0:
            raise FabricError(f"perf script failed: {done.stderr.strip()[-200:]}", f"see {self._log}")
        return done.stdout

    def close(self) -> None:
        """Ends perf, which then writes its file."""
        process.finish(self._pid, signal.SIGINT, _END_S)
        for fd in (self._order, self._answer):
            with suppress(OSError):
                os.close(fd)

    def _say(self, order: str) -> None:
        os.write(self._order, f"{order}\n".encode())
        deadline = time.monotonic() + _ANSWER_S
        while time.monotonic() < deadline and process.alive(self._pid):
            with suppress(BlockingIOError):
                if b"ack" in os.read(self._answer, 64):
                    return
            time.sleep(0.005)
        said = self._log.read_text(errors="replace").strip()[-200:] if self._log.exists() else ""
        raise FabricError(f"perf does not {order} its sampling: {said or 'no answer'}", _WANTED)
