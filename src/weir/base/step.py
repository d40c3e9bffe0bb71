# SPDX-License-Identifier: Apache-2.0
"""One step of a deployment: what to make, and how it reads. Fabric knows how to do and undo each kind."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

StepKind = Literal[
    "run-directory",
    "hugepages",
    "interrupts",
    "governor",
    "rt-throttle",
    "isolation",
    "netns",
    "sysctl",
    "bridge",
    "bridge-port",
    "ovsdb-server",
    "ovs-vswitchd",
    "ovs-bridge",
    "ovs-pool",
    "ovs-port",
    "veth",
    "macvlan",
    "span",
    "tap",
    "guests",
    "function-port",
    "static-routes",
    "counterparts",
    "commands",
    "control-group",
    "program",
    "vm-seed",
    "vm",
    "vm-ready",
    "sriov-vf",
    "end-host",
    "ovs-transaction",
    "openflow",
    "interface",
    "ruleset",
    "steering",
    "dhcp-server",
    "dhcp-leases",
    "guest-leases",
    "cloud-hosts",
    "instance-system",
    "weir-dp",
]
STEP_KINDS: frozenset[str] = frozenset(get_args(StepKind))
Param = bool | int | str | list[str] | list[int]


class Step(BaseModel):
    """Paths in `params` are relative to the deployment's run directory; cores are CPU numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: StepKind
    name: str  # unique in a plan: "veth:f1.left"
    params: dict[str, Param]
    text: str  # one line: what the step does
    undo_text: str  # one line: what destroy does about it; empty: it vanishes with another step

    def numbers(self, key: str) -> list[int]:
        """A parameter that is a list of numbers; empty if there is none of that name."""
        found = self.params.get(key, [])
        return [int(one) for one in found] if isinstance(found, list) else []
