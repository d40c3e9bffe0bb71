# SPDX-License-Identifier: Apache-2.0
"""Hosts that wait in the process of the head: each says one word more whenever it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.waiting_hosts.host import WaitingHost
from weir.hosts.transport import Heard


class HeadKilledError(Exception):
    """The head is gone between two words of its hosts."""


class WaitingHosts:
    """`weir.hosts.transport.Hosts`, of such."""

    def __init__(self, hosts: Mapping[str, WaitingHost], killed_at: int | None = None) -> None:
        """`killed_at`: the head is, when so many points have been begun."""
        self.hosts = hosts
        self.closed = False
        self._killed_at = killed_at
        self._open: list[str] = []

    @property
    def names(self) -> Sequence[str]:
        return list(self.hosts)

    def begin(self, host: str) -> None:
        self._open.append(host)

    def send(self, host: str, line: str) -> None:
        if host in self._open:
            self.hosts[host].hear(line)

    def heard(self, wait_s: float) -> Sequence[Heard]:  # noqa: ARG002 - they always have something to say
        found: list[Heard] = []
        for host in list(self._open):
            if self._killed_at is not None and sum(len(one.asked) for one in self.hosts.values()) >= (
                self._killed_at
            ):
                raise HeadKilledError
            said = self.hosts[host].poll(host)
            if said is not None:
                found.append(said)
                if said.ended is not None:
                    self._open.remove(host)
        return found

    def stop(self, host: str) -> None:
        self.hosts[host].stopped = True

    def close(self) -> None:
        self.closed = True
