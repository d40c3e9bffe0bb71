# SPDX-License-Identifier: Apache-2.0
"""From a lab to what must be done: topology, ordered steps, and what weir-dp is told. Pure functions."""

from __future__ import annotations

from weir.base.names import deployment_id
from weir.base.step import Step
from weir.plan.dataplane_config import PlanError, dataplane_config
from weir.plan.steps import steps
from weir.plan.streams import streams
from weir.plan.topology import build_topology, loopback
from weir.plan.tuning import Tuning, tuning, tuning_steps

__all__ = [
    "PlanError",
    "Step",
    "Tuning",
    "build_topology",
    "dataplane_config",
    "deployment_id",
    "loopback",
    "steps",
    "streams",
    "tuning",
    "tuning_steps",
]
