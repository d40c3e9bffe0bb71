# SPDX-License-Identifier: Apache-2.0
"""Who does and undoes each kind of step, and what else such a one may know of it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from weir.fabric.site import Facts, Site
from weir.plan import Step

if TYPE_CHECKING:
    from weir.base.topology import Topology
    from weir.fabric.counters import Counter


class StepHandler(Protocol):
    """How one kind of step is done and undone."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it; returns what undo needs to know."""

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Takes down what do() made, or had begun to make when it was killed. Idempotent."""


@runtime_checkable
class Judging(Protocol):
    """One that can tell beforehand, without touching anything, whether this machine can do its steps."""

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Why it cannot; None if it can."""


@runtime_checkable
class Counting(Protocol):
    """One that counts what its steps' things have lost, or took and did not give back."""

    def counters(self, topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:
        """Of all its steps. `outside`: what switch and kernel counted just before."""


@runtime_checkable
class Switching(Protocol):
    """One whose step forwards packets between the chain's ports."""

    def datapath(self, facts: Facts) -> str:
        """What forwards, with its version, and where."""

    def in_kernel(self, facts: Facts) -> bool:
        """Whether the kernel does."""


@runtime_checkable
class Running(Protocol):
    """One whose step starts something that can stop by itself."""

    def require_running(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """FabricError with what happened to it, if it does not run any more."""


@runtime_checkable
class Settling(Protocol):
    """One whose step may end before all of it works: what it waits for is weir-dp, which opens its ports when
    every step is done."""

    def settle(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Returns when it does. FabricError if it does not."""


@dataclass(frozen=True)
class Output:
    """What a function of the user's said."""

    said_bytes: int
    """All of it that was logged."""
    end: bytes
    """The last of it."""


@runtime_checkable
class Speaking(Protocol):
    """One whose step's process says what is worth keeping, when it is down."""

    def output(self, params: Mapping[str, Any], site: Site) -> Path:
        """Its log."""


@runtime_checkable
class Logging(Protocol):
    """One that keeps the logs of all steps: those in the run directory, and in the directory that a step has
    noted as LOGS. No log has the same path below two of them."""

    def keep_logs(self, site: Site, error: BaseException) -> None:
        """Before they go; the error says from now on where they are."""


_HANDLERS = {
    "run-directory": ("weir.fabric.run_directory", "RunDirectory"),
    "hugepages": ("weir.fabric.hugepages", "Hugepages"),
    "interrupts": ("weir.fabric.host.settings", "Interrupts"),
    "governor": ("weir.fabric.host.settings", "Governor"),
    "rt-throttle": ("weir.fabric.host.settings", "RtThrottle"),
    "isolation": ("weir.fabric.host.partition", "Partition"),
    "netns": ("weir.fabric.links", "Netns"),
    "sysctl": ("weir.fabric.links", "Sysctl"),
    "veth": ("weir.fabric.links", "Veth"),
    "macvlan": ("weir.fabric.macvlan", "Macvlan"),
    "span": ("weir.fabric.span", "Span"),
    "tap": ("weir.fabric.links", "Tap"),
    "guests": ("weir.fabric.vm.storage", "Guests"),
    "function-port": ("weir.fabric.function.port", "FunctionPort"),
    "static-routes": ("weir.fabric.function.routes", "StaticRoutes"),
    "counterparts": ("weir.fabric.function.counterparts", "Counterparts"),
    "commands": ("weir.fabric.function.commands", "Commands"),
    "control-group": ("weir.fabric.function.control_group", "ControlGroup"),
    "program": ("weir.fabric.function.program", "ProgramRun"),
    "vm-seed": ("weir.fabric.vm.seed", "VmSeed"),
    "vm": ("weir.fabric.vm.machine", "Vm"),
    "vm-ready": ("weir.fabric.vm.machine", "VmReady"),
    "bridge": ("weir.fabric.links", "Bridge"),
    "bridge-port": ("weir.fabric.links", "BridgePort"),
    "ovsdb-server": ("weir.fabric.openvswitch", "OvsdbServer"),
    "ovs-vswitchd": ("weir.fabric.openvswitch", "OvsVswitchd"),
    "ovs-bridge": ("weir.fabric.openvswitch", "OvsBridge"),
    "ovs-pool": ("weir.fabric.openvswitch_pool", "OvsPool"),
    "ovs-port": ("weir.fabric.openvswitch", "OvsPort"),
    "sriov-vf": ("weir.fabric.sriov", "SriovVf"),
    "end-host": ("weir.fabric.end_host", "EndHost"),
    "ovs-transaction": ("weir.fabric.cloud.switch", "OvsTransaction"),
    "openflow": ("weir.fabric.cloud.switch", "OpenFlow"),
    "interface": ("weir.fabric.cloud.interface", "Interface"),
    "ruleset": ("weir.fabric.cloud.ruleset", "Ruleset"),
    "steering": ("weir.fabric.cloud.steering", "Steering"),
    "dhcp-server": ("weir.fabric.cloud.dhcp", "DhcpServer"),
    "dhcp-leases": ("weir.fabric.cloud.dhcp", "DhcpLeases"),
    "guest-leases": ("weir.fabric.cloud.guest_leases", "GuestLeases"),
    "cloud-hosts": ("weir.fabric.cloud.hosts", "CloudHosts"),
    "instance-system": ("weir.fabric.cloud.system.run", "InstanceSystem"),
    "weir-dp": ("weir.fabric.data_plane", "WeirDp"),
}


def lacking(step: Step) -> str | None:
    """Why this machine cannot do a step that changes the host; None if it can, or if only doing shows it."""
    handler = step_handler(step.kind)
    return handler.lacking(step.params) if isinstance(handler, Judging) else None


@cache
def step_handler(kind: str) -> StepHandler:
    """The implementation of that kind of step."""
    module, name = _HANDLERS[kind]
    return cast(StepHandler, getattr(importlib.import_module(module), name)())
