# SPDX-License-Identifier: Apache-2.0
"""Whether a technology can be built on this machine, before anything is touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weir.fabric import probe, sriov
from weir.fabric.errors import FabricError
from weir.fabric.vm.lacking import lacking
from weir.spec.technology import LinuxBridgeOptions, OvsOptions, SrIovOptions, TechnologyOptions
from weir.spec.vm import VmOptions

_OVS_PACKAGE = "openvswitch-switch-dpdk"
_OVS_PROGRAMS = ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovsdb-tool")
_IN_NAMESPACES = ("linux-bridge", "ovs", "ovs-dpdk")
_LINKS: dict[str, tuple[str, ...]] = {"linux-bridge": ("veth", "bridge"), "ovs": ("veth",)}


@dataclass(frozen=True)
class Refusal:
    """Why a technology cannot be built here, and how that can be mended."""

    missing: str
    fix: str


_NO_ROOT = Refusal(
    "building and measuring need root: for network namespaces, hugepages and the ports of weir-dp",
    "run it as root or with sudo; `weir validate`, `weir deploy --dry-run`, `weir inspect` and"
    " `weir report` need no root",
)


def require_root() -> None:
    """FabricError for a user who is not root: what needs root and what does not."""
    if os.geteuid() != 0:
        raise FabricError(_NO_ROOT.missing, _NO_ROOT.fix)


def check(
    technology: str,
    options: TechnologyOptions | None = None,
    *,
    machines: Sequence[VmOptions] = (),
    sysfs: Path = Path("/sys"),
) -> Refusal | None:
    """None if the technology can be built here, with these virtual machines. `options`: the lab's, of it."""
    if os.geteuid() != 0:
        return _NO_ROOT
    if technology in _IN_NAMESPACES and not probe.makes_namespaces():
        return Refusal(
            "root may not make network namespaces here",
            "run it outside of the container, or in one that has CAP_SYS_ADMIN and CAP_NET_ADMIN",
        )
    refusal = _CHECKS.get(technology, _nothing)(technology, options, sysfs)
    missing = None if refusal is not None else lacking(machines, technology)
    return refusal if missing is None else Refusal(*missing)


def _nothing(_technology: str, _options: TechnologyOptions | None, _sysfs: Path) -> Refusal | None:
    return None


def _kernel(technology: str, options: TechnologyOptions | None, _sysfs: Path) -> Refusal | None:
    """Kernel ports: veth pairs, packet sockets, and what switches between them."""
    for kind in _LINKS[technology]:
        if not probe.makes(kind):
            return Refusal(
                f"this kernel makes no {kind} interfaces", f"load its {kind} module, or another kernel"
            )
    if not probe.opens_packet_sockets():
        return Refusal("this kernel gives no AF_PACKET sockets", "load its af_packet module")
    if isinstance(options, LinuxBridgeOptions) and options.netfilter and not probe.bridge_netfilter():
        return Refusal(
            "bridged packets do not pass netfilter here, which the lab asks for",
            "load the br_netfilter module, or leave out technologies.linux-bridge.netfilter",
        )
    if technology == "ovs":
        if isinstance(options, OvsOptions) and options.datapath == "kernel" and not probe.ovs_datapath():
            return Refusal(
                "this kernel has no Open vSwitch datapath, which the lab asks for",
                "load its openvswitch module, or set technologies.ovs.datapath to auto",
            )
        return _programs()
    return None


def _ovs_dpdk(_technology: str, _options: TechnologyOptions | None, _sysfs: Path) -> Refusal | None:
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return Refusal(
            "the switch polls on a core of its own, and this process may use one core only",
            "give it two cores or more",
        )
    return _programs()


def _sr_iov(_technology: str, options: TechnologyOptions | None, sysfs: Path) -> Refusal | None:
    lacking = sriov.missing(sysfs, options if isinstance(options, SrIovOptions) else SrIovOptions())
    if not lacking:
        return None
    return Refusal(
        "; ".join(lacking),
        "use a machine with an SR-IOV capable NIC, an IOMMU switched on, and the driver loaded",
    )


def _programs() -> Refusal | None:
    missing = [name for name in _OVS_PROGRAMS if shutil.which(name) is None]
    if not missing:
        return None
    return Refusal(f"{', '.join(missing)} not installed", f"install the Debian package {_OVS_PACKAGE}")


_CHECKS = {"linux-bridge": _kernel, "ovs": _kernel, "ovs-dpdk": _ovs_dpdk, "sr-iov": _sr_iov}
