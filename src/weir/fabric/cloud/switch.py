# SPDX-License-Identifier: Apache-2.0
"""Step kinds ovs-transaction and openflow: many changes of a node's Open vSwitch in one go."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from weir.fabric import probe
from weir.fabric.openvswitch import call, vsctl
from weir.fabric.site import Facts, Site
from weir.plan import Step
from weir.plan.cloud.switches import DATAPATH

_KERNEL, _USERSPACE = "system", "netdev"


@cache
def userspace() -> bool:
    """Whether clouds here are switched by Open vSwitch's userspace datapath, since the kernel has none. Asked
    once: each interface of a cloud depends on it."""
    return not probe.ovs_datapath()


class OvsTransaction:
    """Bridges, ports and patches: all of them, or none."""

    def do(self, step: Step, site: Site) -> Facts:
        """Returns when ovs-vswitchd has made them."""
        words = step.params["words"]
        assert isinstance(words, list)
        datapath = _USERSPACE if userspace() else _KERNEL
        filled = [str(word).replace(DATAPATH, datapath) for word in words]
        vsctl(site.directory / str(step.params["directory"]), *filled)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: they end with their switch."""


class OpenFlow:
    """The flows of a bridge."""

    def do(self, step: Step, site: Site) -> Facts:
        """Replaces those that it has, all at once."""
        flows = step.params["flows"]
        assert isinstance(flows, list)
        directory, bridge = site.directory / str(step.params["directory"]), str(step.params["bridge"])
        path = directory / f"{bridge}.flows"
        path.write_text("".join(f"{flow}\n" for flow in flows))
        management = f"unix:{directory}/{bridge}.mgmt"
        words = ["--bundle", "-O", "OpenFlow14", "replace-flows", management, str(path)]
        call(["ovs-ofctl", *words], directory)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: they end with their switch."""
