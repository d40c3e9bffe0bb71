# SPDX-License-Identifier: Apache-2.0
"""What a switch in user space sent again after the kernel had refused it: no loss, though counted as one.

Open vSwitch hands the kernel many packets in one call of sendmmsg(), which tells of a refusal (ENOBUFS: the
next queue is full) only if it is the first packet's. Of any other it says how many came before, and the
switch goes on with the one that was refused (netdev_linux_sock_batch_send() of lib/netdev-linux.c). The
interface has then dropped a packet that nobody lost, and the switch has put out one more than it got.
"""

from __future__ import annotations

from collections.abc import Sequence

from weir.fabric.counters import Counter

Place = tuple[str, str | None]
"""Place and reason of a counter."""


class SentAgain:
    """Of one switch. It goes from reading to reading: what was sent again between two is left out there."""

    def __init__(self) -> None:
        self._before: dict[Place, int] = {}
        self._left_out: dict[Place, int] = {}

    def without(self, refused: Sequence[Counter], rest: Counter) -> list[Counter]:
        """All of them, corrected. `refused`: packets that its interfaces dropped when it sent; `rest`: what
        it got and neither sent nor had refused."""
        told = {(one.place, one.reason): one.value for one in (*refused, rest)}
        more = {place: value - self._before.get(place, 0) for place, value in told.items()}
        self._before = told
        own = (rest.place, rest.reason)
        again = max(0, -more[own])
        for place in sorted(more, key=lambda one: -more[one]):
            some = min(again, max(0, more[place]))
            self._leave_out(place, some)
            self._leave_out(own, -some)
            again -= some
        return [
            Counter(one.place, one.reason, "drop", one.value - self._left_out.get((one.place, one.reason), 0))
            for one in (*refused, rest)
        ]

    def _leave_out(self, place: Place, packets: int) -> None:
        self._left_out[place] = self._left_out.get(place, 0) + packets
