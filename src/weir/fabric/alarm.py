# SPDX-License-Identifier: Apache-2.0
"""An end for whatever waits: a library whose own time-outs count silence alone may wait for ever."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from weir.base.error import FabricError

_AT_ONCE_S = 1e-6


class TookTooLongError(FabricError):
    """No TimeoutError: libraries take those for their own, and go on, or say something else."""


@contextmanager
def ended_after(limit_s: float) -> Iterator[None]:
    """TookTooLongError in the body if it takes longer, whatever it waits for; in the main thread alone. One
    within another ends no later than that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLongError(f"its answer has not ended within {limit_s:.0f} s")

    outer_s, _ = signal.getitimer(signal.ITIMER_REAL)
    if 0 < outer_s <= limit_s:
        yield
        return
    began_s = time.monotonic()
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer_s:
            left_s = outer_s - (time.monotonic() - began_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, _AT_ONCE_S))
