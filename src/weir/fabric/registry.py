# SPDX-License-Identifier: Apache-2.0
"""Which module does which kind of step: one line each. Loaded when first used."""

from __future__ import annotations

import importlib
from functools import cache
from typing import cast

from weir.fabric.step_kind import Judging, StepKind
from weir.plan import Step

_KINDS = {
    "run-directory": ("weir.fabric.run_directory", "RunDirectory"),
    "hugepages": ("weir.fabric.hugepages", "Hugepages"),
    "interrupts": ("weir.fabric.host.settings", "Interrupts"),
    "governor": ("weir.fabric.host.settings", "Governor"),
    "rt-throttle": ("weir.fabric.host.settings", "RtThrottle"),
    "isolation": ("weir.fabric.host.partition", "Partition"),
    "netns": ("weir.fabric.namespaces", "Netns"),
    "sysctl": ("weir.fabric.namespaces", "Sysctl"),
    "veth": ("weir.fabric.links", "Veth"),
    "tap": ("weir.fabric.vm.tap", "Tap"),
    "vm-seed": ("weir.fabric.vm.machine", "VmSeed"),
    "vm": ("weir.fabric.vm.machine", "Vm"),
    "vm-ready": ("weir.fabric.vm.machine", "VmReady"),
    "bridge": ("weir.fabric.links", "Bridge"),
    "bridge-port": ("weir.fabric.links", "BridgePort"),
    "ovsdb-server": ("weir.fabric.openvswitch", "OvsdbServer"),
    "ovs-vswitchd": ("weir.fabric.openvswitch", "OvsVswitchd"),
    "ovs-bridge": ("weir.fabric.openvswitch", "OvsBridge"),
    "ovs-port": ("weir.fabric.openvswitch", "OvsPort"),
    "sriov-vf": ("weir.fabric.sriov", "SriovVf"),
    "weir-dp": ("weir.fabric.data_plane", "WeirDp"),
}


def lacking(step: Step) -> str | None:
    """Why this machine cannot do a step that changes the host; None if it can, or if only doing shows it."""
    kind = step_kind(step.kind)
    return kind.lacking(step.params) if isinstance(kind, Judging) else None


@cache
def step_kind(kind: str) -> StepKind:
    """The implementation of that kind of step."""
    module, name = _KINDS[kind]
    return cast(StepKind, getattr(importlib.import_module(module), name)())
