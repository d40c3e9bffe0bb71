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
        self._said: dict[tuple[str, str], int] = {}
        self._said_without_load: dict[tuple[str, str], int] = {}
        self._too_much: dict[tuple[str, str], int] = {}
        self._unexplained_packets = 0

    def close(self) -> None:
        """Nothing is open."""

    def of(self, said: Sequence[Lost], lost_packets: int, *, under_load: bool = False) -> Iterator[Lost]:
        """`lost_packets`: so many were lost in all, since it was started; `under_load`: or are on their
        way. What it says later explains nothing that was lost before a reading without load."""
        packets: dict[tuple[str, str], int] = {}
        for one in said:
            key = (one.where, one.reason)
            packets[key] = packets.get(key, 0) + one.packets
        for known in (self._said, self._said_without_load):
            self._cut(packets, lost_packets - self._unexplained_packets, known)
        self._cut(packets, lost_packets, {})
        self._said = packets
        told = {key: max(0, now - self._too_much.get(key, 0)) for key, now in packets.items()}
        if not under_load:
            self._said_without_load = packets
            self._unexplained_packets = lost_packets - sum(told.values())
        yield from (Lost(*key, now) for key, now in told.items())

    def _cut(self, packets: dict[tuple[str, str], int], most: int, known: dict[tuple[str, str], int]) -> None:
        """What is told beyond `most` is too much, of what is new since `known`."""
        excess = sum(packets.values()) - sum(self._too_much.values()) - most
        for key in reversed(packets):
            before = self._too_much.get(key, 0)
            cut = max(0, min(excess, packets[key] - max(before, known.get(key, 0))))
            self._too_much[key] = before + cut
            excess -= cut
