# SPDX-License-Identifier: Apache-2.0
"""Measuring one built chain: trials, calibration, search, curve. Touches nothing but what it is given."""

from __future__ import annotations

from weir.measure.calibrate import ceilings
from weir.measure.experiment import measure_setup
from weir.measure.one_case import Event, GoalFound, PhaseStarted, TrialFinished
from weir.measure.tester import Counter, SutCounters, Tester, Traffic, no_counters

__all__ = [
    "Counter",
    "Event",
    "GoalFound",
    "PhaseStarted",
    "SutCounters",
    "Tester",
    "Traffic",
    "TrialFinished",
    "ceilings",
    "measure_setup",
    "no_counters",
]
