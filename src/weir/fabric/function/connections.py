# SPDX-License-Identifier: Apache-2.0
"""Connections that Linux follows (conntrack) in the namespaces of its functions."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pyroute2 import NFCTSocket
from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.fabric import namespace, netlink, stop_signals

COUNT = Path("/proc/sys/net/netfilter/nf_conntrack_count")
"""Of the calling thread's namespace; absent where the kernel follows none."""


def forget(topology: Topology) -> None:
    """Those of Linux's functions end. What programs, containers and guests remember stays, and what IPVS has
    in a table of its own. FabricError where the kernel does not let them end. Ctrl-C waits for its end:
    pyroute2 would swallow it."""
    with stop_signals.held():
        _forget(topology)


def _forget(topology: Topology) -> None:
    for node in topology.namespaced():
        if node.kernel is None:
            continue
        with namespace.inside(topology.namespace_of(node)):
            if not followed():
                continue
            try:
                with netlink.opened(NFCTSocket) as connections:
                    connections.flush()
            except NetlinkError as error:
                raise FabricError(
                    f"{node.name}: the connections that Linux follows do not end: {error}",
                    "load the kernel's module nf_conntrack_netlink",
                ) from error


def followed() -> int:
    """How many there are in the calling thread's namespace."""
    with suppress(FileNotFoundError):
        return int(COUNT.read_text())
    return 0
