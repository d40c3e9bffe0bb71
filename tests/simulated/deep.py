# SPDX-License-Identifier: Apache-2.0
"""A simulated device that is slow and has a deep queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.simulated.tester import SimulatedDut
from weir.protocol.traffic import DelayWanted, Shape
from weir.protocol.traffic_results import StreamResult, TrafficResult

CARRIED_PPS = 500.0
"""All streams together."""


@dataclass
class Deep(SimulatedDut):
    """It forwards so many packets a second, one after the other, and drops none."""

    ahead: float = 0.0
    """Packets that it holds of earlier trials, which come first."""
    own: float = field(default=0.0, init=False)
    """Of the last trial."""
    until_s: float = field(default=0.0, init=False)
    """When it was last asked."""
    came: dict[str, float] = field(default_factory=dict, init=False)
    """In the last trial and since: of earlier ones, of its own in time, and too late."""

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        self._works()
        sent = super().run(rates_pps, duration_s, drain_s, delay, shape)
        self.ahead, self.own = self.ahead + self.own, float(sum(one.offered for one in sent.streams))
        self.came = dict.fromkeys(("earlier", "in time", "too late"), 0.0)
        self.now_s += drain_s
        self._works("in time")
        return self._now()

    def again(self) -> TrafficResult:
        self._works()
        return self._now()

    def _works(self, when: str = "too late") -> None:
        """Since it was last asked."""
        room = CARRIED_PPS * (self.now_s - self.until_s)
        self.until_s = self.now_s
        first = min(room, self.ahead)
        second = min(room - first, self.own)
        self.ahead, self.own = self.ahead - first, self.own - second
        if self.came:
            self.came["earlier"] += first
            self.came[when] += second

    def _now(self) -> TrafficResult:
        whole = super().again()
        earlier, in_time, too_late = (round(packets / len(whole.streams)) for packets in self.came.values())

        def seen(one: StreamResult) -> StreamResult:
            counts = {"delivered": in_time, "too_late": too_late, "late_from_earlier_run": earlier}
            return one.model_copy(update=counts)

        streams = tuple(seen(one) for one in whole.streams)
        return whole.model_copy(update={"streams": streams, "slices": None})
