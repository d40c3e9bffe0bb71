# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while something is built or taken down: it waits, so that nothing is left half made or half gone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_came = False


def _note(_number: int, _frame: FrameType | None) -> None:
    global _came  # noqa: PLW0603 - a signal is the process's, and so is this
    _came = True


@contextmanager
def held() -> Iterator[None]:
    """SIGINT in the body raises KeyboardInterrupt only at its end, or at `check` or `allowed` in it.

    May be nested: then at the end of the outermost body. Without effect where SIGINT is ignored, and in
    other threads than the main one, which no signal interrupts.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if before is not _note:
            check()


@contextmanager
def allowed() -> Iterator[None]:
    """Within `held`: SIGINT in the body, or one that has come before, raises KeyboardInterrupt at once."""
    if signal.getsignal(signal.SIGINT) is not _note:
        yield
        return
    check()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, _note)


def check() -> None:
    """Raises KeyboardInterrupt if SIGINT has come while it was held."""
    if _came:
        discard()
        raise KeyboardInterrupt


def discard() -> None:
    """Whoever calls this stops anyway: what has come and was held needs no answer of its own."""
    global _came  # noqa: PLW0603 - a signal is the process's, and so is this
    _came = False
