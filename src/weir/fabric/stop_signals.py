# SPDX-License-Identifier: Apache-2.0
"""Signals that stop Weir, while something is built or taken down: they wait, so that nothing is left half
made or half gone. They are Ctrl-C, and what a time-out, a service manager or a lost terminal sends. One that
this process was started to ignore, as with nohup, stays ignored."""

from __future__ import annotations

import errno
import os
import signal
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_STDERR = 2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_came: int | None = None
_unanswered: int | None = None
_said = False
_finished = False
_quiet = False


def _raise(number: int, _frame: FrameType | None) -> None:
    global _unanswered  # noqa: PLW0603 - a signal is the process's, and so is this
    _unanswered = number
    _leave_lost_terminal()
    _say(number)
    raise KeyboardInterrupt(number)


def _note(number: int, _frame: FrameType | None) -> None:
    global _came  # noqa: PLW0603 - a signal is the process's, and so is this
    if not _finished:
        _came = number
        if not _quiet:
            _say(number)


def _say(number: int) -> None:
    """At once and once a process, past the buffers of standard error: somebody may be writing there."""
    global _said  # noqa: PLW0603 - as above
    if not _said:
        _said = True
        said = f"interrupted by {signal.Signals(number).name}: taking down what was built ...\n".encode()
        with suppress(OSError):
            os.write(_STDERR, b"\n" + said if os.isatty(_STDERR) else said)


@contextmanager
def held(*, quiet: bool = False) -> Iterator[None]:
    """A signal in the body raises KeyboardInterrupt only at its end, or at `check` or `allowed` in it.

    May be nested: then at the end of the outermost body. Without effect on those that are ignored, and in
    other threads than the main one, which no signal interrupts. `quiet`, of the outermost: nothing is built
    or taken down in it that a word would be worth.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    global _finished, _quiet, _unanswered  # noqa: PLW0603 - a signal is the process's, and so are these
    before = {number: signal.getsignal(number) for number in SIGNALS}
    if _note not in before.values():
        _finished, _quiet = False, quiet
    if not {_note, _raise} & {*before.values()}:
        _unanswered = None
    caught = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in caught:
        signal.signal(number, _note)
    try:
        yield
    finally:
        for number, handler in caught.items():
            signal.signal(number, signal.SIG_IGN if _finished else handler)
        if _note not in caught.values() and not _finished:
            check()


@contextmanager
def allowed() -> Iterator[None]:
    """Within `held`: a signal in the body, or one that has come before, raises KeyboardInterrupt at once."""
    caught = [number for number in SIGNALS if signal.getsignal(number) is _note]
    if not caught:
        yield
        return
    check()
    try:
        for number in caught:
            signal.signal(number, _raise)
        yield
    finally:
        for number in caught:
            signal.signal(number, _note)


def check() -> None:
    """Raises KeyboardInterrupt if a signal has come while it was held."""
    number = _came
    if number is not None:
        discard()
        _leave_lost_terminal()
        raise KeyboardInterrupt(number)


def check_unanswered() -> None:
    """The same, and likewise for one that was raised where it is allowed and that nothing came of: Python
    loses what is raised in a finalizer, and goes on. For whoever begins something else within `held`."""
    check()
    number = _unanswered
    if number is not None:
        discard()
        raise KeyboardInterrupt(number)


def discard() -> None:
    """Whoever calls this stops anyway: what has come and was held needs no answer of its own."""
    global _came, _unanswered  # noqa: PLW0603 - a signal is the process's, and so are these
    _came = _unanswered = None


def come() -> None:
    """As if somebody had stopped this process; from any of its threads. Its main thread wakes up from what it
    waits for."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGTERM)


@contextmanager
def kept() -> Iterator[None]:
    """Handlers that a library installs in the body are none after it. For the main thread."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def finish() -> None:
    """In `held`: what was asked for stands, and what is left to do only says so. A signal comes too late from
    now on, after the body too."""
    global _finished  # noqa: PLW0603 - as above
    _finished = True
    discard()


def _leave_lost_terminal() -> None:
    """Whoever writes to a terminal that is gone gets an error, which must not end the taking down."""
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            descriptor = stream.fileno()  # type: ignore[union-attr]
            try:
                termios.tcgetattr(descriptor)
            except termios.error as error:
                if error.args[0] == errno.EIO:
                    nowhere = os.open(os.devnull, os.O_RDWR)
                    os.dup2(nowhere, descriptor)
                    os.close(nowhere)
