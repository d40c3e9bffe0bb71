# SPDX-License-Identifier: Apache-2.0
"""Which events of a soak are listed where there is no place for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weir.results.soak import SoakEvent

STALLS_SHARE = 0.2
"""Of the places in a list, which losses leave to stalls, if there are as many."""


def listed(events: Sequence[SoakEvent], most: int) -> list[SoakEvent]:
    """So many of them, in order of time: losses first, but for a share of the places that the longest stalls
    have; the largest of each kind first, and last what only came out of order. Of those alike there are some
    from all of the time."""
    kept = _first(events, most)
    longest = _first([one for one in events if is_stall(one)], int(STALLS_SHARE * most))
    if sum(map(is_stall, kept)) < len(longest):
        kept = _first([one for one in events if not is_stall(one)], most - len(longest)) + longest
    return sorted(kept, key=lambda event: event.offset_s)


def _first(events: Sequence[SoakEvent], most: int) -> list[SoakEvent]:
    """The most important; where there are more of one importance than places, evenly spread."""
    if len(events) <= most or most == 0:
        return list(events[:most])
    last = sorted(map(_importance, events))[most - 1]
    kept = [one for one in events if _importance(one) < last]
    alike = sorted((one for one in events if _importance(one) == last), key=lambda one: one.offset_s)
    places = most - len(kept)
    return kept + [alike[number * len(alike) // places] for number in range(places)]


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
