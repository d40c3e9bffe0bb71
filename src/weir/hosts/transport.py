# SPDX-License-Identifier: Apache-2.0
"""How the head of a campaign reaches hosts: what whoever carries lines there and back has to do. Ray does it
(`weir.hosts.by_ray`); tests do it without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from weir.base.error import WeirError

PROGRAM = ("-P", "-m", "weir.procedures.host_session")
"""What measures on a host, arguments of its own Python; -P: what lies in the directory there, which may be
anybody's, is not imported."""


class HostsError(WeirError):
    """No host can be reached, or none can measure; says which lacks what."""


@dataclass(frozen=True)
class Heard:
    """What a host has said since it was asked last."""

    host: str
    lines: Sequence[str] = ()
    ended: str | None = None
    """Why nothing comes any more; empty: its program has ended as it should. None: more may come."""


class Reserving(Protocol):
    """Hosts of which some can be had together."""

    def reserve(self, wanted: Sequence[str | None], say: Callable[[str], None]) -> Sequence[str]:
        """So many for this campaign, all at once or none; waits for them. `wanted`: the name or address of
        each; None: any. HostsError where there are too few."""

    def address(self, host: str) -> str:
        """By which the others reach it."""


class Hosts(Protocol):
    """Hosts by name, each with one program at most."""

    @property
    def names(self) -> Sequence[str]:
        """Those that offer themselves, in an order that stays."""

    def begin(self, host: str) -> None:
        """Starts its program."""

    def send(self, host: str, line: str) -> None:
        """Says something to it. Without effect on one that has ended."""

    def heard(self, wait_s: float) -> Sequence[Heard]:
        """What any of them has said; waits so long at most. `ended` comes once for each host."""

    def stop(self, host: str) -> None:
        """As Ctrl-C would: its program takes down what it has built and ends, which is heard."""

    def close(self) -> None:
        """Ends what is left on all of them. Without effect the second time."""
