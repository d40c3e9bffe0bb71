# SPDX-License-Identifier: Apache-2.0
"""Progress of a measurement, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weir.results.result import Throughput, Trial

Phase = Literal[
    "calibrate",
    "warm-up",
    "search",
    "confirm",
    "curve",
    "latency",
    "throughput",
    "frame loss",
    "back-to-back",
    "recovery",
    "reset",
]


@dataclass(frozen=True)
class PhaseStarted:
    """A phase of one frame's case begins. `step` of `steps`: repeats of the search, points of the curve."""

    frame: str
    phase: Phase
    step: int = 1
    steps: int = 1


@dataclass(frozen=True)
class TrialFinished:
    """One trial is over, valid or not."""

    frame: str
    mean_frame_bytes: float
    trial: Trial


@dataclass(frozen=True)
class GoalFound:
    """A goal's throughput is known (or irregular)."""

    frame: str
    throughput: Throughput


Event = PhaseStarted | TrialFinished | GoalFound
