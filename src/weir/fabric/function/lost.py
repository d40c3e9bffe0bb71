# SPDX-License-Identifier: Apache-2.0
"""What a program says of packets that it has lost."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Lost:
    """In one place of it, for one reason, since it was started."""

    where: str
    """Behind the function's name: .left, .right, or /program for the program itself."""
    reason: str
    packets: int


def why_not(error: Exception) -> str:
    """Why a program that was asked does not tell: what it said, or what went wrong."""
    if isinstance(error, (TimeoutError, subprocess.TimeoutExpired)):
        return "it does not answer, as if it hung or had been stopped"
    return str(getattr(error, "stderr", None) or "").strip() or repr(error)


class Losses:
    """What a program says that it has lost, and no more than was lost, from one reading to the next: some
    drivers of DPDK count a packet that waits as often as it does."""

    def __init__(self) -> None:
        self._lost_packets = 0
        self._said: dict[tuple[str, str], int] = {}
        self._told: dict[tuple[str, str], int] = {}

    def close(self) -> None:
        """Nothing is open."""

    def of(self, said: Sequence[Lost], lost_packets: int) -> Iterator[Lost]:
        """`lost_packets`: so many were lost in all, since it was started."""
        packets: dict[tuple[str, str], int] = {}
        for one in said:
            key = (one.where, one.reason)
            packets[key] = packets.get(key, 0) + one.packets
        more, left = lost_packets - self._lost_packets, lost_packets
        for key, now in packets.items():
            new = max(0, min(now - self._said.get(key, 0), more))
            told = max(0, min(self._told.get(key, 0) + new, left))
            more, left = more - new, left - told
            self._told[key] = told
            yield Lost(*key, told)
        self._lost_packets, self._said = lost_packets, packets
