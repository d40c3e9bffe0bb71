# SPDX-License-Identifier: Apache-2.0
"""Whether a technology can be built on this machine, before anything is touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weir.fabric import probe, sriov
from weir.fabric.errors import FabricError
from weir.fabric.vm.lacking import lacking
from weir.lab.vm import VmOptions
from weir.technology import TECHNOLOGIES, TechnologyOptions
from weir.technology.descriptor import Need
from weir.technology.sriov import SrIovOptions

_OVS_PACKAGE = "openvswitch-switch-dpdk"
_OVS_PROGRAMS = ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovsdb-tool")


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
    described = TECHNOLOGIES[technology]
    options = options or described.options()
    refusals = (_lacking(need, options, sysfs) for need in described.needs(options))
    refusal = next((one for one in refusals if one is not None), None)
    missing = None if refusal is not None else lacking(machines, technology)
    return refusal if missing is None else Refusal(*missing)


def _lacking(need: Need, options: TechnologyOptions, sysfs: Path) -> Refusal | None:
    if need.kind == "virtual-functions":
        return _virtual_functions(options, sysfs)
    if need.kind == "openvswitch":
        return _programs()
    has, refusal = _PROBES[need.kind]
    return None if has(need.of) else Refusal(refusal.missing.format(need.of), refusal.fix.format(need.of))


def _virtual_functions(options: TechnologyOptions, sysfs: Path) -> Refusal | None:
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


_PROBES: Mapping[str, tuple[Callable[[str], bool], Refusal]] = {
    "namespaces": (
        lambda _: probe.makes_namespaces(),
        Refusal(
            "root may not make network namespaces here",
            "run it outside of the container, or in one that has CAP_SYS_ADMIN and CAP_NET_ADMIN",
        ),
    ),
    "link": (
        lambda kind: bool(probe.makes(kind)),
        Refusal("this kernel makes no {} interfaces", "load its {} module, or another kernel"),
    ),
    "packet-sockets": (
        lambda _: probe.opens_packet_sockets(),
        Refusal("this kernel gives no AF_PACKET sockets", "load its af_packet module"),
    ),
    "bridge-netfilter": (
        lambda _: probe.bridge_netfilter(),
        Refusal(
            "bridged packets do not pass netfilter here, which the lab asks for",
            "load the br_netfilter module, or leave out technologies.linux-bridge.netfilter",
        ),
    ),
    "openvswitch-datapath": (
        lambda _: probe.ovs_datapath(),
        Refusal(
            "this kernel has no Open vSwitch datapath, which the lab asks for",
            "load its openvswitch module, or set technologies.ovs.datapath to auto",
        ),
    ),
    "cpus": (
        lambda least: len(os.sched_getaffinity(0)) >= int(least),
        Refusal(
            "the switch polls on a core of its own, and this process may use fewer than {} cores",
            "give it {} cores or more",
        ),
    ),
}
"""Of each kind of need: whether it is there, and what to say where it is not; {}: what the need is of."""
