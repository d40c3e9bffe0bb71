# SPDX-License-Identifier: Apache-2.0
"""Whether a trial lost packets for lack of capacity, or in pauses of a system that was otherwise not full.

A system whose capacity is exceeded has a queue that only grows, or one that stays full and loses packets all
the time. One that pauses loses them in a few milliseconds, and its queue is empty in most others. Its own
pauses are nobody else's fault, so they count. But on a virtual machine a neighbour on the same physical core
can slow it for some milliseconds by what it does to the caches, which no clock in the machine shows: a rate
that pauses bound holds for the pauses that the trials met.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CALM_SHARE = 0.6
"""Of the slices: with so many without loss and with an ordinary delay, the system was not full."""
CLUSTERED_SHARE = 0.5
"""Losses are in at most so many of the slices that they would be in if they came at random."""

FEW = 5
"""Fewer lost packets are clustered: a full system loses more."""


def in_pauses(lost: Sequence[int], calm: Sequence[bool]) -> bool:
    """Of the slices of a stream that count: packets lost in each, and whether its delay was ordinary."""
    total = sum(lost)
    if total <= 0:
        return False
    at_random = 1 - math.exp(-total / len(lost))
    lossy = sum(packets > 0 for packets in lost) / len(lost)
    quiet = sum(ordinary and packets <= 0 for packets, ordinary in zip(lost, calm, strict=True))
    # A queue that is always full has delays as ever where it drops.
    apart = 2 * calm.count(False) >= sum(packets > 0 for packets in lost)
    clustered = total < FEW or lossy <= CLUSTERED_SHARE * at_random
    return apart and clustered and quiet >= CALM_SHARE * len(lost)
