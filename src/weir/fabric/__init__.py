# SPDX-License-Identifier: Apache-2.0
"""The only part that touches the system: makes deployments step by step, and takes them down."""

from __future__ import annotations

from weir.fabric.check import Refusal, check, host_settings, possible, require_root
from weir.fabric.core_claim import claimed
from weir.fabric.counters import Counter
from weir.fabric.deployment import Deployment, Event, clean_leftovers, deployments
from weir.fabric.errors import FabricError
from weir.fabric.fidelity import fidelity
from weir.fabric.fingerprint import boot_id, fingerprint, weir_version
from weir.fabric.outside.watch import taking_part
from weir.fabric.step_handlers import Output, lacking

__all__ = [
    "Counter",
    "Deployment",
    "Event",
    "FabricError",
    "Output",
    "Refusal",
    "boot_id",
    "check",
    "claimed",
    "clean_leftovers",
    "deployments",
    "fidelity",
    "fingerprint",
    "host_settings",
    "lacking",
    "possible",
    "require_root",
    "taking_part",
    "weir_version",
]
