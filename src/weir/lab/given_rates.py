# SPDX-License-Identifier: Apache-2.0
"""A lab that is measured at given rates instead of its own goals: nothing is searched for."""

from __future__ import annotations

from collections.abc import Sequence

from weir.lab.complaint import Complaint
from weir.lab.delay import LatencyOptions, SoakOptions
from weir.lab.goal_check import goals_named
from weir.lab.lab import Lab
from weir.lab.measure import CurveOptions
from weir.lab.traffic_check import traffic_complaints

SETTLES_S = 1.0
"""Where the lab measures no delays, and says no time for it: tables are filled, slow paths walked."""


def at_rates(lab: Lab, rates: Sequence[str], duration_s: float) -> Lab:
    """Each rate for so long, both directions together: "1.5Mpps", "100Mbit/s". Its service level holds but
    for rates to be found, which nobody looks for."""
    asked = lab.measure.latency
    settle_s = min(asked.settle_s if asked is not None else SETTLES_S, duration_s)
    latency = LatencyOptions(loads=tuple(rates), duration_s=duration_s, settle_s=settle_s)
    others = {"curve": CurveOptions(points=0), "soak": SoakOptions()}
    measure = lab.measure.model_copy(update={"goals": (), "latency": latency, **others})
    of_packets = lab.sla is not None and lab.sla.limits_packets()
    sla = lab.sla.model_copy(update={"throughput": ()}) if lab.sla is not None and of_packets else None
    return lab.model_copy(update={"measure": measure, "sla": sla, "steps": ()})


def complaints(lab: Lab) -> list[Complaint]:
    """What is impossible about a lab that is measured so."""
    return [*traffic_complaints(lab), *goals_named(lab)]
