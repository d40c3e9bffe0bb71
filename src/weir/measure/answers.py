# SPDX-License-Identifier: Apache-2.0
"""When the tester learns again whom it answers: mappings of a translator end when nothing is sent."""

from __future__ import annotations

import time
from collections.abc import Callable

from weir.measure.tester import Tester, Traffic
from weir.protocol.traffic_results import TrafficResult

MAPPED_S = 25.0
"""Shorter than the shortest time-out of a mapping that is usual: 30 s, Linux's of UDP before an answer."""


class Answers:
    """Of one traffic on one chain."""

    def __init__(self, tester: Tester, traffic: Traffic, clock: Callable[[], float] = time.monotonic) -> None:
        self._tester = tester
        self._traffic = traffic
        self._clock = clock
        self._due_s: float | None = clock()
        """None: nothing translates, or no stream answers another one."""
        streams = traffic.config.streams
        answered = {stream.answers for stream in streams}
        self._kept = {
            stream.id: stream.flows.count
            for stream in streams
            if stream.id in answered and stream.flows is not None and stream.flows.distribution == "uniform"
        }
        """Flows of answered streams whose packets keep all mappings."""

    def learn(self) -> None:
        """Before a trial: sends each flow once, unless it is known that its mapping stands."""
        if self._due_s is None or self._clock() < self._due_s:
            return
        learned = self._tester.learn(self._traffic.config)
        nothing = learned is None or (learned.arrived > 0 and not learned.translated)
        self._due_s = None if nothing else self._clock() + MAPPED_S

    def sent(self, result: TrafficResult) -> None:
        """After a trial that ended now."""
        if self._due_s is None or not self._kept:
            return
        if all(one.offered >= self._kept[one.id] for one in result.streams if one.id in self._kept):
            self._due_s = self._clock() + MAPPED_S
