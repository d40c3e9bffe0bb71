# SPDX-License-Identifier: Apache-2.0
"""The guest that tests migrate, and what keeps a machine from it."""

from __future__ import annotations

from weir import fabric
from weir.fabric.vm.lacking import lacking, lacking_failover
from weir.lab.vm import VmOptions

GUEST = VmOptions(forwarder="kernel", accel="tcg", memory_mb=256)
DRAIN_MS = 2000
"""What an emulated processor still holds at the end of a trial takes it a while."""


def impossible() -> str | None:
    """Why it cannot be migrated here, and what to do; None: it can."""
    missing = lacking([GUEST], "linux-bridge")
    if missing is None:
        try:
            missing = lacking_failover()
        except fabric.FabricError as error:
            missing = error.message, error.fix
    return None if missing is None else ": ".join(missing)
