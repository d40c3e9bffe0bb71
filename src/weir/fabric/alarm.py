# SPDX-License-Identifier: Apache-2.0
"""An end for whatever waits: a library whose own time-outs count silence alone may wait for ever."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from weir.base.error import FabricError


class TookTooLongError(FabricError):
    """No TimeoutError: libraries take those for their own, and go on, or say something else."""


@contextmanager
def ended_after(limit_s: float) -> Iterator[None]:
    """TookTooLongError in the body if it takes longer, whatever it waits for; in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLongError(f"its answer has not ended within {limit_s:.0f} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
