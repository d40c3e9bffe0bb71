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

LONGEST_S = 60.0
"""How long after a trial packets of it are waited for."""
_HOLDERS_SAY = frozenset({"not_returned", "not_forwarded", "not_read"})
"""Reasons of what went in somewhere and did not come out, wherever it is by now."""


def may_hold(counts: Balance) -> bool:
    """Whether some of a trial's packets may still come."""
    return counts.unaccounted > 0 or any(drop.reason in _HOLDERS_SAY for drop in counts.drops)


class Emptied:
    """Of one system under test, trial by trial."""

    def __init__(self, tester: Tester, sleep: Callable[[float], None], quiet_s: float) -> None:
        self._tester = tester
        self._sleep = sleep
        self._quiet_s = quiet_s
        self._longest_s = LONGEST_S

    def wait(self) -> bool:
        """Until nothing has come to a port for as long as trials drain; False if it still came when that was
        given up."""
        received = self._received()
        for _ in range(math.ceil(self._longest_s / self._quiet_s)):
            self._sleep(self._quiet_s)
            before, received = received, self._received()
            if received == before:
                return True
        self._longest_s = self._quiet_s  # what never ends is not waited for each time
        return False

    def _received(self) -> int:
        return sum(port.rx_packets for port in self._tester.ledger().ports)
