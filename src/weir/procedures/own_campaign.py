# SPDX-License-Identifier: Apache-2.0
"""Which procedure measures the traffic of a lab: all but searches of rates have a campaign of their own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from weir.lab import Lab


def own_campaign(lab: Lab) -> Any:
    """The module of the procedure that measures such traffic in its own way; None: rates are searched."""
    capture = lab.traffic.capture
    asked = {"connections": lab.traffic.connections, "replay": capture.replay if capture else None}
    name = next((name for name, wanted in asked.items() if wanted is not None), None)
    return import_module(f"weir.procedures.{name}.campaign") if name is not None else None
