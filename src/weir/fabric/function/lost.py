# SPDX-License-Identifier: Apache-2.0
"""What a program says of packets that it has lost."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TRIED_AGAIN = "tx_queue_full"
"""Some drivers of DPDK count a packet for which there is no room as often as it is tried to send it; of other
reasons each counts a packet once."""


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
    """What a program says that it has lost, and no more than was lost, from one reading to the next. What
    it says too much is taken for refusals of packets that were sent again, as far as there are such."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], int] = {}
        """Before; of refusals, without load: under load nobody knows which of them lost nothing."""
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
        told = {key: max(0, now - self._too_much.get(key, 0)) for key, now in packets.items()}
        if not under_load:
            self._said_without_load = packets
            self._unexplained_packets = lost_packets - sum(told.values())
        refused = (key for key in packets if key[1] == _TRIED_AGAIN)
        self._said = packets | {key: self._said_without_load.get(key, 0) for key in refused}
        yield from (Lost(*key, now) for key, now in told.items())

    def _cut(self, packets: dict[tuple[str, str], int], most: int, known: dict[tuple[str, str], int]) -> None:
        """What is told beyond `most` is too much, of what is new since `known`: refusals first, then what a
        driver has under names of its own, which comes last."""
        excess = sum(packets.values()) - sum(self._too_much.values()) - most
        refusals_last = sorted(packets, key=lambda one: one[1] == _TRIED_AGAIN)
        for key in reversed(refusals_last):
            before = self._too_much.get(key, 0)
            cut = max(0, min(excess, packets[key] - max(before, known.get(key, 0))))
            self._too_much[key] = before + cut
            excess -= cut
