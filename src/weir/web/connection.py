# SPDX-License-Identifier: Apache-2.0
"""Connections of those who read: not more than there is room for, none that asks or is answered for ever."""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 15
"""A request that is not complete then is not waited for."""
READ_S = 20
"""Of an answer that waits something must have been read then: some 48 KiB of a long one."""
MOST = 512
"""At a time; fewer where this process may not have twice as many descriptors."""


def most() -> int:
    """Connections at a time; the rest of the descriptors is for the store and for those that are refused."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft // 2)


class Connection(H11Protocol):
    """Uvicorn's, which waits without an end for what was begun."""

    _given_up: asyncio.TimerHandle | None = None
    _looking: asyncio.TimerHandle | None = None
    _unread_bytes = 0
    _was_read = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Of asyncio."""
        super().connection_made(transport)
        if len(self.connections) > most():
            transport.abort()
        else:
            self._expect()
            self._looking = self.loop.call_later(READ_S, self._look)

    def resume_writing(self) -> None:
        """Of asyncio."""
        self._was_read = True
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Of asyncio."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Of asyncio."""
        self._expect_nothing()
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        waiting_bytes = self.transport.get_write_buffer_size()
        if waiting_bytes >= self._unread_bytes > 0 and not self._was_read:
            self.transport.abort()
            return
        self._unread_bytes, self._was_read = waiting_bytes, False
        self._looking = self.loop.call_later(READ_S, self._look)

    def _expect(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect_nothing()
        elif self._given_up is None:
            self._given_up = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _expect_nothing(self) -> None:
        if self._given_up is not None:
            self._given_up.cancel()
            self._given_up = None
