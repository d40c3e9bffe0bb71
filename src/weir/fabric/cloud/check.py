# SPDX-License-Identifier: Apache-2.0
"""Whether a cloud can stand on this machine, before anything is made."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.cloud import CloudTopology
from weir.base.error import FabricError
from weir.base.step import Step
from weir.fabric.check import check, require_root, require_to_measure
from weir.fabric.function.control_group import available_mb
from weir.fabric.probe import bridge_netfilter
from weir.fabric.step_handlers import lacking
from weir.plan.cloud.security import SECURITIES
from weir.technology.ovs import TECHNOLOGY


def require_cloud(steps: Sequence[Step], topology: CloudTopology) -> None:
    """FabricError where this machine or this user cannot build it, with what is missing."""
    require_root()
    if any(step.kind == "weir-dp" for step in steps):
        require_to_measure()
    refusal = check(TECHNOLOGY.name)
    if refusal is not None:
        raise FabricError(f"a cloud cannot stand here: {refusal.missing}", refusal.fix)
    if SECURITIES[topology.security].bridged_netfilter and not bridge_netfilter():
        raise FabricError(
            f"a cloud cannot stand here with {topology.security}: bridged packets do not pass netfilter",
            "load the br_netfilter module, or choose ovs-conntrack or none",
        )
    wanted_mb, there_mb = sum(one.memory_mb for _, _, one in topology.machines()), available_mb()
    if wanted_mb > there_mb:
        raise FabricError(
            f"a cloud cannot stand here: its virtual machines have {wanted_mb} MiB of memory, and this"
            f" machine has {there_mb} MiB to give",
            "lower vm.memory_mb or vm.instances",
        )
    missing = dict.fromkeys(why for why in map(lacking, steps) if why is not None)
    if missing:
        raise FabricError(f"a cloud cannot stand here: {'; '.join(missing)}")
