# SPDX-License-Identifier: Apache-2.0
"""A weir that is killed: work in a forked child, which kills itself at a point of it."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

from weir import fabric


def survived(work: Callable[[], object]) -> bool:
    """Runs `work` in a child. False if it killed itself in it; an error in it fails the test."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # nothing may get back into the child's copy of pytest
            os.write(2, traceback.format_exc().encode())
        os._exit(code)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0, "the work failed before it came to the point"
    return True


def kill() -> None:
    """As `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(point: tuple[str, str]) -> Callable[[fabric.Event], None]:
    """In the step of that name, in that state of it."""

    def on_event(event: fabric.Event) -> None:
        if (event.step.name, event.state) == point:
            kill()

    return on_event
