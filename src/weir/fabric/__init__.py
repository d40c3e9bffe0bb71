# SPDX-License-Identifier: Apache-2.0
"""The only part that touches the system: makes deployments step by step, and takes them down."""

from __future__ import annotations

from weir.base.error import FabricError
from weir.fabric.check import (
    check,
    require_root,
    require_root_to_command,
    require_root_to_look,
    require_root_to_verify,
    require_to_measure,
)
from weir.fabric.core_claim import claimed, may_claim, somebody_has
from weir.fabric.counters import Counter
from weir.fabric.deployment import Deployment, Event, clean_leftovers, deployments, remove_remains
from weir.fabric.fidelity import fidelity
from weir.fabric.fingerprint import fingerprint, weir_version
from weir.fabric.host_applied import host_settings, possible
from weir.fabric.needs import Refusal
from weir.fabric.outside.watch import taking_part
from weir.fabric.probe import bridge_netfilter
from weir.fabric.process import allow_all_descriptors
from weir.fabric.step_handlers import Output, lacking

__all__ = [
    "Counter",
    "Deployment",
    "Event",
    "FabricError",
    "Output",
    "Refusal",
    "allow_all_descriptors",
    "bridge_netfilter",
    "check",
    "claimed",
    "clean_leftovers",
    "deployments",
    "fidelity",
    "fingerprint",
    "host_settings",
    "lacking",
    "may_claim",
    "possible",
    "remove_remains",
    "require_root",
    "require_root_to_command",
    "require_root_to_look",
    "require_root_to_verify",
    "require_to_measure",
    "somebody_has",
    "taking_part",
    "weir_version",
]
