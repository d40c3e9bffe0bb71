# SPDX-License-Identifier: Apache-2.0
"""What reports say of the events of a soak."""

from __future__ import annotations

from weir.base.words import counted
from weir.procedures.soak.section_listed import is_lost, is_stall, listed
from weir.procedures.soak.section_times import since
from weir.report import numbers
from weir.results.soak import Soak, SoakEvent

EVENTS_SHOWN = 12


def events_text(soak: Soak) -> str:
    """How many there were of each kind, and how many of these are kept with their times."""
    kept = [event for one in soak.intervals for event in one.events]
    left_out = sum(one.events_left_out for one in soak.intervals)
    unlike = [one for one in soak.intervals if one.events_left_out and one.stalls_left_out is None]
    unknown = sum(one.events_left_out for one in unlike)
    losses = sum(map(is_lost, kept)) + sum(one.losses_left_out or 0 for one in soak.intervals)
    stalls = sum(map(is_stall, kept)) + sum(one.stalls_left_out or 0 for one in soak.intervals)
    overtaken = len(kept) + left_out - unknown - losses - stalls
    unseen = " (when packets were lost is not known)" if soak.lost and not losses and not unknown else ""
    said = f"{_least(losses, soak, 'losses_unseen')} of loss{unseen}"
    said += f", {_least(stalls, soak, 'stalls_unseen')} stalls of 1 ms or more"
    said += f", {overtaken} times packets came out of order" if overtaken else ""
    said += f", and {numbers.count(unknown)} of which it is not known what they were" if unknown else ""
    return said + (f"; {numbers.count(len(kept))} of them are listed" if left_out else "")


def _least(number: int, soak: Soak, unseen: str) -> str:
    more = any(getattr(one, unseen) for one in soak.intervals)
    return f"{numbers.count(number)}{' or more' if more else ''}"


def event_text(event: SoakEvent) -> str:
    """ "15:04:05.678 (+61.2 s) → 12 packets lost during a stall: tester.left tx_queue_full 12"."""
    head = f"{event.at[11:23]} ({since(event.offset_s)})"
    if event.kind == "stall":
        by = {"host": "the host", "function": event.area, "tester": event.area, "loop": "the loop"}[
            event.by or "loop"
        ]
        return f"{head} core {event.core} stood still for {numbers.us(event.us)}: {event.taker or by}"
    if event.out_of_order:
        arrow = numbers.ARROWS.get(event.direction or "", "")
        return f"{head} {arrow} {counted(event.packets or 0, 'packet')} came later, out of order"
    drops = ", ".join(f"{one.place} {one.reason} {one.packets}" for one in event.counters)
    stalled = " during a stall" if event.during_stall else ""
    arrow = numbers.ARROWS.get(event.direction or "", "")
    more = sum(one.packets for one in event.counters) > (event.packets or 0)
    whose = "in the whole interval " if more else ""
    found = f"{whose}{drops}" if drops else "no counter of the interval"
    return f"{head} {arrow} {counted(event.packets or 0, 'packet')} lost{stalled}: {found}"


def notable(soak: Soak, most: int = EVENTS_SHOWN) -> list[SoakEvent]:
    """Losses first, and the longest stalls, which have a share of the places; in order of time."""
    return listed([event for one in soak.intervals for event in one.events], most)
