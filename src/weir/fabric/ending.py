# SPDX-License-Identifier: Apache-2.0
"""How processes are ended: by their marker, or by the namespace that they are in."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from weir.base.error import FabricError
from weir.base.started import Started
from weir.fabric import markers, process

TERM_S = 5.0
KILL_ROUNDS = 5


def end_marked(marker: str, user: int | None = None, journalled: Mapping[Started, str] | None = None) -> None:
    """Ends every process with that marker: SIGTERM, and SIGKILL after a while. Returns when they are gone.

    As `markers.marked`. FabricError if they do not go, too. Anybody can start one with that marker: what
    another user, who is not `user`, starts after this has begun is not waited for. All of the deployment's
    were there before, those that gave up rights too.
    """
    began_ticks = Started.now_ticks()

    def found() -> list[int]:
        return [
            pid for pid in markers.marked(marker, user, journalled) if not _strange(pid, user, began_ticks)
        ]

    _end_all(found)


def _strange(pid: int, user: int | None, since_ticks: int) -> bool:
    """Whether somebody else has started it after that moment."""
    started = Started.of(pid)
    return (
        started is not None
        and started.start_ticks > since_ticks
        and markers.user_of(pid) not in {os.getuid(), user, None}
    )


def end_inside(*namespaces: str) -> None:
    """The same of every process in these network namespaces, whoever put it there."""
    _end_all(partial(markers.inside, *namespaces))


def _end_all(found: Callable[[], list[int]]) -> None:
    # The rounds after the first are for what they have started in their last moments.
    for patience_s in (TERM_S, *[0.0] * KILL_ROUNDS):
        if not _end_those_there(found, patience_s):
            return
    raise FabricError(f"processes {found()} do not end", "look what keeps them: ps, dmesg")


def _end_those_there(found: Callable[[], list[int]], patience_s: float) -> bool:
    """One round; False if there were none. Whom a signal could not be sent is left to the next one."""
    ends = {}
    try:
        for pid in found():
            with suppress(ProcessLookupError):
                ends[pid] = os.pidfd_open(pid)
        # They are looked for again while the descriptors are open: a pid may have been used anew.
        there = {pid: ends[pid] for pid in found() if pid in ends}
        asked = {fd for fd in there.values() if _sent(fd, signal.SIGTERM)}
        deadline = time.monotonic() + patience_s
        for pid, fd in there.items():
            left_s = max(0.0, deadline - time.monotonic()) if fd in asked else 0.0
            if _ended(fd, left_s) or (_sent(fd, signal.SIGKILL) and _ended(fd, TERM_S)):
                process.reap(pid)
    finally:
        for fd in ends.values():
            os.close(fd)
    return bool(ends)


def _sent(pidfd: int, number: signal.Signals) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, number)
    except OSError:  # it has ended, or it could not be sent
        return False
    return True


def _ended(pidfd: int, patience_s: float) -> bool:
    """Whether the process ends within that time."""
    poll = select.poll()  # select(2) takes no descriptor past 1023
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(patience_s * 1000))
