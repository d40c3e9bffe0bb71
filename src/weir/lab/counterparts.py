# SPDX-License-Identifier: Apache-2.0
"""What a lab must know of what does the same as one of Weir's functions: by Linux, or by a program.

They are set up from these functions' options (`weir.catalogue`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from weir.base.node import ProgramPorts


@dataclass(frozen=True)
class Counterpart:
    """Linux in the place of one of Weir's functions."""

    programs: tuple[str, ...] = ("nft",)
    """That set it up."""
    needs: tuple[str, ...] = ()
    """Options of which it must have one, and a program in its place, too."""
    rewrites: Literal["", "source", "destination"] = ""
    """Of what goes to the right."""
    filters: bool = False
    """A function may have several. Linux filters what has its new destination and its old source, in both
    directions: Weir's sees the same addresses behind what rewrites destinations, and before what rewrites
    sources."""
    forwards: bool = True
    """Linux forwards its packets; what it sends itself it neither filters nor translates."""
    leaving: bool = False
    """It has packets as they leave, translated."""
    alone: str = ""
    """By what, if that has the packets before Linux would do anything else with them."""
    kernel: str = ""
    """A module, without which the kernel does not do it."""


COUNTERPARTS: Mapping[str, Counterpart] = {
    "acl": Counterpart(filters=True),
    "firewall": Counterpart(filters=True),
    "l2fwd": Counterpart(alone="nftables at ingress"),
    "l3fwd": Counterpart(programs=("ip",)),
    "lb": Counterpart(needs=("services", "services_file"), rewrites="destination"),
    "nat": Counterpart(needs=("external",), rewrites="source"),
    "shaper": Counterpart(programs=("tc",), needs=("tenants", "tenants_file"), leaving=True),
}
"""By the names of Weir's functions: what does it unless the lab says by what."""

LinuxBy = Literal["ipvs", "xdp"]
_XDP = ("bpftool", "clang", "ip")
OTHER_WAYS: Mapping[str, Mapping[str, Counterpart]] = {
    "ipvs": {
        "lb": Counterpart(
            programs=("ipvsadm", "nft"),
            rewrites="destination",
            forwards=False,
            kernel="ip_vs",
        )
    },
    "xdp": {nf: Counterpart(_XDP, alone="xdp") for nf in ("l2fwd", "l3fwd")},
}
"""By what else Linux does some of them."""


def linux_counterpart(nf: str, by: str | None) -> Counterpart | None:
    """None: it has none of that function."""
    other = OTHER_WAYS[by].get(nf) if by is not None else None
    return other or COUNTERPARTS.get(nf)


@dataclass(frozen=True)
class ProgramCounterpart:
    """A program in the place of one of Weir's functions."""

    stands_for: tuple[str, ...]
    """The functions."""
    program: str
    """Under which it is installed."""
    package: str = ""
    """Debian's, which has it."""
    mend: str = ""
    """What to do where it is missing, if that is more than to install the package."""
    ports: tuple[ProgramPorts, ...] = get_args(ProgramPorts)
    """That it can have."""
    dpdk: bool = True
    """Whether it is told its ports and memory as DPDK's environment has them."""
    hugepages_mb: int = 0
    """That it takes without being told to, on each NUMA node and of the default size; it leaves those behind
    that were not there."""


def _example(name: str) -> str:
    return (
        f"build /usr/share/dpdk/examples/{name} of the Debian package dpdk-doc, and name it in program.path"
    )


ProgramName = Literal["testpmd", "dpdk-l2fwd", "dpdk-l3fwd", "fastclick", "suricata", "vpp"]
PROGRAMS: Mapping[str, ProgramCounterpart] = {
    "testpmd": ProgramCounterpart(("l2fwd",), "dpdk-testpmd", "dpdk"),
    "dpdk-l2fwd": ProgramCounterpart(("l2fwd",), "dpdk-l2fwd", mend=_example("l2fwd")),
    "dpdk-l3fwd": ProgramCounterpart(("l3fwd",), "dpdk-l3fwd", mend=_example("l3fwd")),
    "fastclick": ProgramCounterpart(
        ("l2fwd", "l3fwd", "acl"),
        "click",
        mend="build https://github.com/tbarbette/fastclick with --enable-dpdk, and name its click in"
        " program.path",
    ),
    "suricata": ProgramCounterpart(
        ("dpi",),
        "suricata",
        mend="install the package suricata, which Debian 12 has in bookworm-backports",
        ports=("interface",),
        dpdk=False,
    ),
    "vpp": ProgramCounterpart(
        ("l3fwd", "acl", "firewall", "nat", "lb"),
        "vpp",
        mend="install vpp, vpp-plugin-core and vpp-plugin-dpdk of https://packagecloud.io/fdio, or build"
        " https://github.com/FDio/vpp",
        ports=("interface", "memif"),
        dpdk=False,
        hugepages_mb=48,
    ),
}
"""By the names of counterparts that are programs (`weir.catalogue.programs`)."""
PACKAGES = {
    "bpftool": "bpftool",
    "clang": "clang",
    "ip": "iproute2",
    "ipvsadm": "ipvsadm",
    "nft": "nftables",
    "tc": "iproute2",
}
"""Debian's, which have those programs."""
TABLE_PREFIX = "weir_"
"""Of the counterparts' tables in nftables, whose named counters count packets that were dropped."""
IPVS_TABLE, IPVS_ARRIVED = "ipvs_services", "arrived"
"""That table, and its counter of packets that IPVS is asked about, dropped or not."""
