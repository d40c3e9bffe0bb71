# SPDX-License-Identifier: Apache-2.0
"""Simulated devices that let nothing of a direction through."""

from __future__ import annotations

from tests.simulated.tester import SimulatedDut
from weir.protocol.traffic_results import TrafficResult


class OneWay(SimulatedDut):
    """Nothing of its second stream arrives."""

    silent = frozenset({1})

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        lost = {"delivered": 0, "latency": None}
        streams = (one.model_copy(update=lost) if one.id in self.silent else one for one in result.streams)
        return result.model_copy(update={"streams": tuple(streams)})


class NoWay(OneWay):
    """Nothing arrives."""

    silent = frozenset({0, 1})
