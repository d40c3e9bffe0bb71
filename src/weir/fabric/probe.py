# SPDX-License-Identifier: Apache-2.0
"""What this kernel can do, found out by doing it in a network namespace that nobody sees."""

from __future__ import annotations

import os
import socket
from functools import cache

from pyroute2 import IPRoute
from pyroute2.ethtool import Ethtool
from pyroute2.netlink import genlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket

from weir.fabric import namespace

_ARGUMENTS: dict[str, dict[str, object]] = {"veth": {"peer": {"ifname": "peer"}}, "bridge": {}}
_OFFLOADS = ("checksum", "scatter-gather", "segmentation", "gro", "lro", "vlan")


def makes_namespaces() -> bool:
    """Whether this process may make network namespaces: root in a container may not."""
    try:
        with namespace.nameless():
            return True
    except OSError:
        return False


def makes(kind: str) -> bool:
    """Whether the kernel makes interfaces of that kind: "veth", "bridge". Loads its module if it has one."""
    with namespace.nameless(), IPRoute() as route:
        try:
            route.link("add", ifname="probe", kind=kind, **_ARGUMENTS[kind])
        except NetlinkError:
            return False
    return True


def opens_packet_sockets() -> bool:
    """Whether the kernel gives AF_PACKET sockets."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError:
        return False
    return True


def ovs_datapath() -> bool:
    """Whether the kernel has Open vSwitch's datapath: its generic netlink family. Loads its module."""
    with GenericNetlinkSocket() as generic:
        try:
            generic.bind("ovs_datapath", genlmsg)
        except NetlinkError:
            return False
    return True


@cache
def veth_offloads() -> str:
    """Kinds of offload that are on in a new veth pair, which Weir leaves as it is; "unknown" without root."""
    if os.geteuid() != 0:
        return "unknown: only root can see them"
    try:
        with namespace.nameless(), IPRoute() as route, Ethtool() as ethtool:
            route.link("add", ifname="probe", kind="veth", **_ARGUMENTS["veth"])
            features = ethtool.get_features("probe").features.values()
    except (NetlinkError, OSError) as error:
        return f"unknown: {error}"
    on = [feature.name for feature in features if feature.enable]
    kinds = {f"{name[:2]} {kind}" for name in on for kind in _OFFLOADS if kind in name}
    return "veth: " + (", ".join(sorted(kinds)) or "none")
