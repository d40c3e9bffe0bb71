# SPDX-License-Identifier: Apache-2.0
"""Which events of a soak are listed where there is no place for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weir.results.soak import SoakEvent

STALLS_SHARE = 0.2
"""Of the places in a list, which losses leave to stalls, if there are as many."""


def listed(events: Sequence[SoakEvent], most: int) -> list[SoakEvent]:
    """So many of them, in order of time: losses first, but for a share of the places that the longest stalls
    have; the largest of each kind first, and last what only came out of order."""
    ordered = sorted(events, key=_importance)
    kept = ordered[:most]
    longest = [one for one in ordered if one.kind == "stall"][: int(STALLS_SHARE * most)]
    missing = len(longest) - sum(one.kind == "stall" for one in kept)
    if missing > 0:
        kept = [one for one in kept if one.kind != "stall"][: most - len(longest)] + longest
    return sorted(kept, key=lambda event: event.offset_s)


def left_out(events: Sequence[SoakEvent], kept: Sequence[SoakEvent], of: Callable[[SoakEvent], bool]) -> int:
    """How many such events are not among those that were kept."""
    return sum(map(of, events)) - sum(map(of, kept))


def is_lost(event: SoakEvent) -> bool:
    """Packets went missing, and did not come later."""
    return event.kind == "loss" and not event.out_of_order


def is_stall(event: SoakEvent) -> bool:
    """A loop stood still."""
    return event.kind == "stall"


def _importance(event: SoakEvent) -> tuple[int, float]:
    if event.kind == "loss":
        return 2 * event.out_of_order, -(event.packets or 0)
    return 1, -(event.us or 0.0)
