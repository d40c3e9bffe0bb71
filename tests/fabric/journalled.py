# SPDX-License-Identifier: Apache-2.0
"""A small deployment to write journals of."""

from __future__ import annotations

from weir import plan
from weir.base.topology import Topology
from weir.lab import Lab

DEPLOYMENT = "small-1a2b3c4d"


def topology() -> Topology:
    """Its topology; nothing of it is made."""
    lab = Lab.model_validate({"weir": 1, "name": "small", "chain": "PVP", "technology": ["direct"]})
    return plan.build_topology(lab, "direct", lab.chains()[0], DEPLOYMENT)
