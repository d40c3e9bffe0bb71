# SPDX-License-Identifier: Apache-2.0
"""weir-dp as a tester whose runs are looked at while they go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from weir.base.si import NS_PER_S
from weir.protocol.client import DataPlaneClient
from weir.protocol.tester import DataPlaneTester, changes
from weir.protocol.traffic import DelayWanted, Shape
from weir.protocol.traffic_results import TrafficResult

Waiting = Callable[[float], bool]
"""Sleeps that many seconds, or until Ctrl-C: then True."""


class LookingTester(DataPlaneTester):
    """Calls `look` every `interval_s` of a run, and at its end. `ended_early`: how the last run ended.
    `complete`: called before the last look, once all was sent that was to be."""

    def __init__(
        self,
        client: DataPlaneClient,
        interval_s: float,
        look: Callable[[], None],
        wait: Waiting,
        complete: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(client)
        self._interval_s = interval_s
        self._look = look
        self._wait = wait
        self._complete = complete
        self.ended_early = False

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        """One run, asleep between two looks; the last look is after the last packet. Of a shape only rates
        that change.

        DataPlaneTimeoutError when the run does not end in time.
        """
        self.ended_early = False
        run = self._client.start_traffic(
            rates_pps,
            round(duration_s * NS_PER_S),
            round(drain_s * NS_PER_S),
            delay,
            then=changes(shape or Shape()),
        )
        began = time.monotonic()
        looks = 0
        while (left := began + duration_s - time.monotonic()) > 0 and not self.ended_early:
            due = began + (looks + 1) * self._interval_s - time.monotonic()
            # What would be a very short interval at the end is part of the one before.
            last = left < due + self._interval_s / 2
            self.ended_early = self._wait(max(0.0, left if last else due))
            if last or self.ended_early:
                break
            self._look()
            looks = max(looks + 1, int((time.monotonic() - began) / self._interval_s))
        if self.ended_early:
            self._client.finish_traffic()
        else:
            self._complete()
        result = self._ended(run, time.monotonic() + drain_s)
        self._look()
        return result
