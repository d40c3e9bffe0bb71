# SPDX-License-Identifier: Apache-2.0
"""Clouds of tenants: their step kinds, and what stands."""

from __future__ import annotations

from weir.base.cloud import CloudTopology
from weir.fabric.deployment import Deployment


def cloud_of(deployment: Deployment) -> CloudTopology | None:
    """None if it is no cloud. FabricError if another version of Weir made it."""
    about = deployment.about("cloud")
    return None if about is None else CloudTopology.model_validate(about)
