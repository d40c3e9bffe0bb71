# SPDX-License-Identifier: Apache-2.0
"""Interfaces without offloads: frames are as on a wire, with whole checksums, none longer than the MTU."""

from __future__ import annotations

from pyroute2.ethtool import Ethtool
from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import namespace, netlink

OFFLOADS = ("checksum", "scatter-gather", "segmentation", "gso", "gro", "lro", "vlan")
"""Parts of the names of features (ethtool(8)) with which frames differ from those on a wire, or on which such
features build."""


def switch_off_offloads(netns: str, interface: str) -> None:
    """FabricError if the kernel refuses, or keeps an offload on."""
    try:
        with netlink.opened(Ethtool, namespace.inside(netns)) as ethtool:
            features = ethtool.get_features(interface)
            for one in features.features.values():
                if one.available and _is_offload(one.name):
                    one.enable = False
            ethtool.set_features(interface, features)
            after = ethtool.get_features(interface).features.values()
            kept = sorted(one.name for one in after if one.enable and _is_offload(one.name))
    except (NetlinkError, OSError) as error:
        raise FabricError(f"cannot switch off the offloads of {interface} in {netns}: {error}") from error
    if kept:
        raise FabricError(
            f"the kernel keeps offloads of {interface} in {netns} on: {', '.join(kept)}",
            "frames would differ from those on a wire: use a kernel whose interfaces can do without",
        )


def _is_offload(feature: str) -> bool:
    return any(part in feature for part in OFFLOADS)
