# SPDX-License-Identifier: Apache-2.0
"""Netlink sockets of pyroute2, in which Ctrl-C waits: while one is made, asked or closed it would be
swallowed by handlers for errors of every kind, or leave an event loop half made, of which Python complains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

from weir.fabric import stop_signals

Made = TypeVar("Made")


@contextmanager
def opened(
    kind: Callable[[], AbstractContextManager[Made]], within: AbstractContextManager[object] | None = None
) -> Iterator[Made]:
    """One for the body, which must be short. `within`: the namespace that it is made in, as
    `namespace.inside`. Raises what pyroute2 raises; KeyboardInterrupt at its end."""
    with stop_signals.held(quiet=True), within or nullcontext(), kind() as made:
        yield made


def kept(kind: Callable[[], Made], within: AbstractContextManager[object]) -> Made:
    """One that stays open, for whoever closes it."""
    with stop_signals.held(quiet=True), within:
        return kind()
