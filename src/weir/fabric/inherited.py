# SPDX-License-Identifier: Apache-2.0
"""What a process has from whoever started it, and one that measures must not have."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from weir.fabric.stop_signals import SIGNALS


def undo() -> None:
    """For this thread and what it starts from now on: as if somebody had typed it.

    Ray has its workers nice (15), the first that the kernel kills for want of memory (1000), and with Ctrl-C
    blocked: programs would not hear what is to end them. Without rights what needs them stays as it is.
    """
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("0")
