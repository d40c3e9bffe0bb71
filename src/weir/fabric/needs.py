# SPDX-License-Identifier: Apache-2.0
"""What technologies need of a machine (`Need`), whether it is there, and what to say where it is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from weir.fabric import probe, sriov
from weir.technology import TechnologyOptions
from weir.technology.descriptor import Need
from weir.technology.sriov import SrIovOptions

_OVS_PACKAGE = "openvswitch-switch-dpdk"
_OVS_PROGRAMS = ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovsdb-tool")


@dataclass(frozen=True)
class Refusal:
    """Why something cannot be built here, and how that can be mended."""

    missing: str
    fix: str


_Judge = Callable[[str, TechnologyOptions], Refusal | None]
"""Of what the need is, and the lab's options."""


def lacking(need: Need, options: TechnologyOptions) -> Refusal | None:
    """None: it is there."""
    return _JUDGES[need.kind](need.of, options)


def _virtual_functions(_of: str, options: TechnologyOptions) -> Refusal | None:
    lacks = sriov.missing(sriov.SYSFS, options if isinstance(options, SrIovOptions) else SrIovOptions())
    if not lacks:
        return None
    return Refusal(
        "; ".join(lacks),
        "use a machine with an SR-IOV capable NIC, an IOMMU switched on, and the driver loaded",
    )


def _openvswitch(_of: str, _options: TechnologyOptions) -> Refusal | None:
    missing = [name for name in _OVS_PROGRAMS if shutil.which(name) is None]
    if not missing:
        return None
    return Refusal(f"{', '.join(missing)} not installed", f"install the Debian package {_OVS_PACKAGE}")


def _probed(has: Callable[[str], bool], missing: str, fix: str) -> _Judge:
    """{} in both: what the need is of."""

    def judge(of: str, _options: TechnologyOptions) -> Refusal | None:
        return None if has(of) else Refusal(missing.format(of), fix.format(of))

    return judge


_JUDGES: Mapping[str, _Judge] = {
    "virtual-functions": _virtual_functions,
    "openvswitch": _openvswitch,
    "namespaces": _probed(
        lambda _: probe.makes_namespaces(),
        "root may not make network namespaces here",
        "run it outside of the container, or in one that has CAP_SYS_ADMIN and CAP_NET_ADMIN",
    ),
    "link": _probed(
        lambda kind: bool(probe.makes(kind)),
        "this kernel makes no {} interfaces",
        "load its {} module, or another kernel",
    ),
    "packet-sockets": _probed(
        lambda _: probe.opens_packet_sockets(),
        "this kernel gives no AF_PACKET sockets",
        "load its af_packet module",
    ),
    "bridge-netfilter": _probed(
        lambda _: probe.bridge_netfilter(),
        "bridged packets do not pass netfilter here, which the lab asks for",
        "load the br_netfilter module, or leave out technologies.linux-bridge.netfilter",
    ),
    "openvswitch-datapath": _probed(
        lambda _: probe.ovs_datapath(),
        "this kernel has no Open vSwitch datapath, which the lab asks for",
        "load its openvswitch module, or set technologies.ovs.datapath to auto",
    ),
    "cpus": _probed(
        lambda least: len(os.sched_getaffinity(0)) >= int(least),
        "the switch polls on a core of its own, and this process may use fewer than {} cores",
        "give it {} cores or more",
    ),
}
