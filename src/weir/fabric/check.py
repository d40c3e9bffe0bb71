# SPDX-License-Identifier: Apache-2.0
"""Whether a technology can be built on this machine, before anything is touched."""

from __future__ import annotations

import errno
import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

from weir.fabric import sriov

_OVS_PACKAGE = "openvswitch-switch-dpdk"
_PROGRAMS: dict[str, tuple[str, ...]] = {
    "ovs": ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-appctl", "ovsdb-tool"),
    "ovs-dpdk": ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-appctl", "ovsdb-tool"),
}


@dataclass(frozen=True)
class Refusal:
    """Why a technology cannot be built here, and how that can be mended."""

    missing: str
    fix: str


def check(technology: str, *, sysfs: Path = Path("/sys")) -> Refusal | None:
    """None if the technology can be built here."""
    if os.geteuid() != 0:
        return Refusal(
            "root is needed to make network namespaces, hugepages and ports of a data plane",
            "run it as root or with sudo",
        )
    missing = [name for name in _PROGRAMS.get(technology, ()) if shutil.which(name) is None]
    if missing:
        return Refusal(f"{', '.join(missing)} is not installed", f"install the Debian package {_OVS_PACKAGE}")
    if technology in ("linux-bridge", "ovs") and not _packet_sockets():
        return Refusal("this kernel gives no AF_PACKET sockets", "load the af_packet module")
    if technology == "sr-iov":
        lacking = sriov.missing(sysfs)
        if lacking:
            return Refusal(
                "; ".join(lacking),
                "use a machine with an SR-IOV capable NIC, an IOMMU switched on, and the vfio-pci driver",
            )
    return None


def _packet_sockets() -> bool:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError as error:
        return error.errno not in (errno.EAFNOSUPPORT, errno.EPERM)
    return True
