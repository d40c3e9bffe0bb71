# SPDX-License-Identifier: Apache-2.0
"""planted-delay: delays, PDV and IPDV that `impair` plants, against what the receiver says of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.data_plane import weir_dp
from bench.delay_chain import CORE, configure, measured
from bench.pairs import Line, line
from tests.verbs import reset
from weir.protocol import DataPlaneClient
from weir.protocol.traffic_results import StreamResult

SECONDS = 4.0
EXACT_NS = 1000.0  # nearer than that is as good as equal


@dataclass(frozen=True)
class _Planted:
    """Options of `impair`, and what they should show beyond the chain's own median latency."""

    name: str
    ns: float
    read: Callable[[StreamResult, float], float]  # of a stream, and the median without a delay
    options: dict[str, Any] = field(default_factory=dict)


def _median(stream: StreamResult, floor_ns: float) -> float:
    assert stream.latency is not None
    return stream.latency.p50_ns - floor_ns


def _pdv_p90(stream: StreamResult, _: float) -> float:
    assert stream.latency is not None
    return stream.latency.p90_ns - stream.latency.min_ns


def _ipdv(stream: StreamResult, _: float) -> float:
    assert stream.ipdv is not None
    return stream.ipdv.p50_size_ns


_UNIFORM = {"delay_ns": 100_000, "distribution": "uniform", "spread_ns": 500_000}
_ALTERNATE = {"delay_ns": 100_000, "distribution": "alternate", "spread_ns": 200_000}
_EXPONENTIAL = {"delay_ns": 100_000, "distribution": "exponential", "spread_ns": 60_000}
PLANTED = (
    *(
        _Planted(f"constant {ns} ns", ns, _median, {"delay_ns": ns})
        for ns in (10_000, 100_000, 1_000_000, 10_000_000)
    ),
    _Planted("uniform, median", 350_000, _median, _UNIFORM),
    _Planted("uniform, PDV P90", 450_000, _pdv_p90, _UNIFORM),
    _Planted("alternate, IPDV", 200_000, _ipdv, _ALTERNATE),
    _Planted("exponential, median", 100_000 + 60_000 * math.log(2), _median, _EXPONENTIAL),
)


def run() -> Line:
    """The smaller of measured/planted and its inverse, 1 within a microsecond: 0.98 is an error of 2 %."""
    with weir_dp(CORE) as client:
        floor_ns = _stream(client, {}).latency
        assert floor_ns is not None
        found = [(one, one.read(_stream(client, one.options), floor_ns.p50_ns)) for one in PLANTED]
    taken = [
        (one.ns, one.ns) if abs(ns - one.ns) <= EXACT_NS else (min(ns, one.ns), max(ns, one.ns))
        for one, ns in found
    ]
    made = line("planted-delay", taken, target=0.98, unit="ns")
    made.detail["floor_ns"] = floor_ns.p50_ns
    made.detail["planted_and_measured_ns"] = {one.name: [one.ns, ns] for one, ns in found}
    return made


def _stream(client: DataPlaneClient, options: dict[str, Any]) -> StreamResult:
    configure(client, options)
    stream = measured(client, SECONDS).streams[0]
    reset(client)
    return stream
