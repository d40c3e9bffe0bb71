# SPDX-License-Identifier: Apache-2.0
"""From a lab to one plan a deployment: topology, ordered steps, weir-dp's configuration and streams. Pure."""

from __future__ import annotations

from weir.base.step import Step
from weir.base.topology import deployment_id
from weir.plan.data_plane import LOG, SOCKET
from weir.plan.plan import Plan, configure, steps
from weir.plan.streams import streams
from weir.plan.topology import PlanError, build_topology, loopback
from weir.plan.tuning import Tuning, tuning, tuning_steps

__all__ = [
    "LOG",
    "SOCKET",
    "Plan",
    "PlanError",
    "Step",
    "Tuning",
    "build_topology",
    "configure",
    "deployment_id",
    "loopback",
    "steps",
    "streams",
    "tuning",
    "tuning_steps",
]
