# SPDX-License-Identifier: Apache-2.0
"""Step kind: the packet buffers of an Open vSwitch on DPDK, made before its ports connect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.fabric.openvswitch import vsctl
from weir.fabric.site import Facts, Site
from weir.plan import Step

_BRIDGE, _PORT = "weir-pool", "weir-pool-0"
_DEVICE = "net_null_weir,no-rx=1"


class OvsPool:
    """A port of DPDK that receives nothing holds the pool of all ports from before the first of them connects
    until weir-dp has opened them, and is gone before anything is measured.

    Else the first connection makes it: Open vSwitch (3.1) tries 262,144 buffers, then half of them and so on,
    and has all of its memory meanwhile, a second and more where the machine is busy. Whoever connects in this
    time gets no memory, and DPDK's vhost library (22.11) never tries that port again.
    """

    def do(self, step: Step, site: Site) -> Facts:
        """Nothing where each port has a pool of its own, as in ordinary pages."""
        directory = site.directory / str(step.params["directory"])
        if "true" in vsctl(
            directory, "--if-exists", "get", "Open_vSwitch", ".", "other_config:per-port-memory"
        ):
            return {}
        words = [
            "add-br", _BRIDGE, "--", "set", "Bridge", _BRIDGE, "datapath_type=netdev",
            "--", "add-port", _BRIDGE, _PORT,
            "--", "set", "Interface", _PORT, "type=dpdk", f"options:dpdk-devargs={_DEVICE}",
        ]  # fmt: skip
        if step.params["mtu_bytes"]:
            words += [f"mtu_request={step.params['mtu_bytes']}"]
        vsctl(directory, *words)
        return {"bridge": _BRIDGE}

    def settle(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """The ports hold the pool now."""
        if "bridge" in facts:
            vsctl(site.directory / str(params["directory"]), "--if-exists", "del-br", str(facts["bridge"]))

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it ends with its switch."""
