# SPDX-License-Identifier: Apache-2.0
"""When a system under test is empty again: what it still holds of one trial comes out in the next one, in
place of packets of that, and neither can be believed.

Weir's own functions hold nothing for longer than trials drain. A program, a virtual machine or the kernel may
have queues for many seconds of what it forwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from weir.measure.accounting import Balance
from weir.measure.tester import Tester
from weir.protocol.traffic_results import TrafficResult

LONGEST_S = 60.0
"""How long after a trial packets of it are waited for."""
_LOOK_S = 0.02, 5.0
"""The shortest and the longest time in which none has to come."""
_HOLDERS_SAY = frozenset({"not_returned", "not_forwarded", "not_read"})
"""Reasons of what went in somewhere and did not come out, wherever it is by now."""


def may_hold(counts: Balance) -> bool:
    """Whether some of a trial's packets may still come."""
    return counts.unaccounted > 0 or any(drop.reason in _HOLDERS_SAY for drop in counts.drops)


def emptied(tester: Tester, sleep: Callable[[float], None], quiet_s: float) -> tuple[TrafficResult, bool]:
    """The last trial once none of its packets, nor of an earlier one, has come for `quiet_s`, within limits;
    False if some still came when that was given up. What else comes is nobody's loss, and not waited for."""
    shortest_s, longest_s = _LOOK_S
    look_s = min(max(quiet_s, shortest_s), longest_s)
    now = tester.again()
    for _ in range(math.ceil(LONGEST_S / look_s)):
        sleep(look_s)
        before, now = now, tester.again()
        if _came(now) == _came(before):
            return now, True
    return now, False


def with_later(result: TrafficResult, now: TrafficResult) -> TrafficResult:
    """The same, with the packets that have come since: its time is over, and nothing else of it changes."""
    later = {one.id: one for one in now.streams}
    streams = tuple(
        one.model_copy(
            update={
                "too_late": later[one.id].too_late,
                "late_from_earlier_run": later[one.id].late_from_earlier_run,
            }
        )
        for one in result.streams
    )
    return result.model_copy(update={"streams": streams})


def _came(found: TrafficResult) -> int:
    return sum(
        one.delivered + one.too_late + one.duplicates + one.late_from_earlier_run for one in found.streams
    )
