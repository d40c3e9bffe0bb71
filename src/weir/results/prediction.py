# SPDX-License-Identifier: Apache-2.0
"""What a lab that was never run carries, as `weir model predict --json` prints it. Units are in the names."""

from __future__ import annotations

from weir.base.record import Record


class PredictedCore(Record):
    """One core at the predicted rate."""

    core: int
    cycles_per_packet: float
    """Of all its areas, for each packet that the tester sends."""
    utilisation: float
    """Share of its time that its areas work."""
    areas: dict[str, float]
    """Cycles of each, dearest first."""


class PredictedQueue(Record):
    """One queue at the load that was asked about."""

    delay_us: float
    packets: float
    """Mean number in it, in service too."""
    loss_ratio: float


class PredictedDelay(Record):
    """One-way delay at the load that was asked about."""

    mean_us: float
    p50_us: float
    p90_us: float
    p99_us: float
    queues: dict[str, PredictedQueue]


class LabPrediction(Record):
    """One chain, number of flows and frame size."""

    chain: str
    frame: str
    flows: int
    f: int
    """Sets side by side."""
    pps: float
    low_pps: float
    high_pps: float
    """The 95 % interval."""
    functions_pps: float
    """What the functions' areas could carry if the tester took no time on their cores."""
    limited_by: str
    cores: list[PredictedCore]
    delay: PredictedDelay | None = None
    """Absent: not asked for, or the load is not carried."""
    notices: list[str]
