# SPDX-License-Identifier: Apache-2.0
"""weir-dp as a tester of runs that are looked at while they go on, and may end before their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from weir.protocol.client import LOG_HINT, DataPlaneClient
from weir.protocol.errors import DataPlaneTimeoutError
from weir.protocol.messages import TrafficResult
from weir.protocol.requests import DelayWanted
from weir.protocol.tester import LATE_S, WAIT_MS, DataPlaneTester

Waiting = Callable[[float], bool]
"""Sleeps that many seconds, or until Ctrl-C: then True."""


class LookingTester(DataPlaneTester):
    """Calls `look` every `interval_s` of a run, and at its end. `ended_early`: how the last run ended."""

    def __init__(
        self, client: DataPlaneClient, interval_s: float, look: Callable[[], None], wait: Waiting
    ) -> None:
        super().__init__(client)
        self._interval_s = interval_s
        self._look = look
        self._wait = wait
        self.ended_early = False

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: object = None,  # noqa: ARG002 - the load is constant
    ) -> TrafficResult:
        """One run, asleep between two looks; the last look is after the last packet.

        DataPlaneTimeoutError when the run does not end in time.
        """
        self.ended_early = False
        run = self._client.start_traffic(rates_pps, round(duration_s * 1e9), round(drain_s * 1e9), delay)
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
        result = self._ended(run, drain_s)
        self._look()
        return result

    def _ended(self, run: int, drain_s: float) -> TrafficResult:
        deadline = time.monotonic() + drain_s + LATE_S
        while time.monotonic() < deadline:
            result = self._client.traffic_result(WAIT_MS)
            if result is not None and result.run == run:
                return result
        raise DataPlaneTimeoutError("timeout", f"run {run} did not end {LATE_S:.0f} s late", fix=LOG_HINT)
