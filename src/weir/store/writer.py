# SPDX-License-Identifier: Apache-2.0
"""Who writes a run that is not finished: whether it is still measured, or its program was killed."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from weir.base.started import Started, boot_id
from weir.store.tables import RunRow

Unfinished = Literal["measured", "killed", "unknown"]
"""Its program runs; has ended without a word; ran where nobody here can look."""


@dataclass(frozen=True)
class Writer:
    """A process, of all machines and containers that share a store."""

    node: str
    boot_id: str
    pid_namespace: str
    """As /proc names it: containers have numbers of their own."""
    pid: int
    start_ticks: int

    @classmethod
    def here(cls) -> Writer:
        """This process."""
        pid = os.getpid()
        started = Started.of(pid)
        ticks = started.start_ticks if started is not None else 0
        return cls(platform.node(), boot_id(), _pid_namespace(), pid, ticks)

    def text(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self))

    def state(self) -> Unfinished:
        """Of what it has not finished. A machine is known by its name, as in lists."""
        here = Writer.here()
        if self.node != here.node or not self.start_ticks:
            return "unknown"
        if self.boot_id != here.boot_id:
            return "killed"  # with the machine
        if self.pid_namespace != here.pid_namespace:
            return "unknown"
        return "measured" if Started.of(self.pid) == Started(self.pid, self.start_ticks) else "killed"


def state_of(run: RunRow) -> Unfinished | None:
    """None: it has ended, by itself or interrupted."""
    return unfinished(run.writer) if run.finished_s is None and not run.interrupted else None


def unfinished(writer: str | None) -> Unfinished:
    """The state of a run that is not finished; `writer`: what is stored. Older Weirs stored nothing."""
    with suppress(ValueError, TypeError):
        return Writer(**json.loads(writer or "")).state()
    return "unknown"


def _pid_namespace() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""
