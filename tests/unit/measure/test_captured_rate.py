# SPDX-License-Identifier: Apache-2.0
"""Bits a second of captures are those of the frames that were sent, maybe a file's first ones alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.measure import measure_setup, no_counters
from weir.measure.one_case import OnChain, Time
from weir.protocol.traffic_results import CaptureFacts, TrafficResult
from weir.results.throughput import Throughput

from .rig import MEASURE

SHORT, SHORT_BYTES, LONG_BYTES = 30_000, 70, 1000
"""Handshakes first, then what they are for."""


class OfCaptures(SimulatedDut):
    """Counts the bytes of such a file's frames."""

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        streams = (one.model_copy(update={"offered_bytes": bytes_of(one.offered)}) for one in result.streams)
        return result.model_copy(update={"streams": tuple(streams)})


def bytes_of(frames: int) -> int:
    return min(frames, SHORT) * SHORT_BYTES + max(0, frames - SHORT) * LONG_BYTES


def found(frames: int, capacity_pps: float) -> Throughput:
    file = CaptureFacts(
        frames=frames,
        mean_frame_bytes=bytes_of(frames) / frames,
        frame_bytes_most=LONG_BYTES,
        recorded_pps=100,
        lead_ns=0,
        span_ns=1e9,
    )
    traffic = replace(simulated_traffic("capture", file.mean_frame_bytes), captured={0: file, 1: file})
    dut = OfCaptures(Response(capacity_pps=capacity_pps, saturation_pps=capacity_pps))
    chain = OnChain(dut, no_counters, lambda _: None, {}, timing=Time(dut.clock, dut.sleep))
    (case,) = measure_setup(MEASURE, [traffic], chain)
    return case.throughput[0]


def test_a_rate_whose_trials_end_among_a_files_first_frames_is_one_of_these() -> None:
    result = found(1_000_000, 1e5)
    assert result.load_pps == pytest.approx(1e5, rel=0.02)
    assert result.l2_bps == pytest.approx(1e5 * SHORT_BYTES * 8, rel=0.02)
    assert result.l1_bps == pytest.approx(1e5 * (SHORT_BYTES + 20) * 8, rel=0.02)
    assert result.why is not None
    assert " of 1,000,000 frames of the capture left-to-right and the first " in result.why


def test_a_rate_whose_trials_send_a_file_again_and_again_is_of_the_whole_file() -> None:
    result = found(40_000, 1e6)
    sent = 125_000  # in each direction, in a quarter of a second
    assert result.l2_bps == pytest.approx(1e6 * bytes_of(sent) / sent * 8, rel=0.02)
    assert result.why is None
