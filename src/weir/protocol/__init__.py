# SPDX-License-Identifier: Apache-2.0
"""Client of weir-dp, the data plane."""

from __future__ import annotations

from weir.protocol.client import DataPlaneClient
from weir.protocol.errors import DataPlaneError, DataPlaneGoneError, DataPlaneLostError, DataPlaneTimeoutError
from weir.protocol.tester import DataPlaneTester

__all__ = [
    "DataPlaneClient",
    "DataPlaneError",
    "DataPlaneGoneError",
    "DataPlaneLostError",
    "DataPlaneTester",
    "DataPlaneTimeoutError",
]
