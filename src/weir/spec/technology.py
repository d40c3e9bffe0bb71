# SPDX-License-Identifier: Apache-2.0
"""`technologies` of a lab: the options of each switching technology."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weir.spec.cores import Cores, CpuList
from weir.spec.part import Part

TechnologyName = Literal["direct", "linux-bridge", "ovs", "ovs-dpdk", "sr-iov"]
KERNEL_TECHNOLOGIES: frozenset[str] = frozenset({"linux-bridge", "ovs"})
QueueSize = Literal[256, 512, 1024, 2048, 4096, 8192]
_QUEUE = "descriptors of each virtio ring; small rings lose packets when the host stalls a core"


class TechnologyOptions(Part):
    """What every technology has."""

    cores: Cores | None = Field(default=None, description="cores with this technology, before the lab's own")


class DirectOptions(TechnologyOptions):
    """No switch: each port is wired straight to the next. The upper bound that SR-IOV reaches."""

    wire: Literal["virtio-user", "memory"] = Field(
        default="virtio-user",
        description="virtio-user: virtio and vhost, which copy as a VM's port does; memory: rings, no copies",
    )
    queue_size: QueueSize = Field(default=4096, description=_QUEUE)


class KernelPortOptions(TechnologyOptions):
    """What technologies with kernel ports have."""

    port: Literal["packet_socket", "af_packet", "af_xdp"] = Field(
        default="packet_socket",
        description="how weir-dp opens its end of a veth pair: its own AF_PACKET socket, or a DPDK driver",
    )


class LinuxBridgeOptions(KernelPortOptions):
    """The kernel's bridge, one for each network of the chain."""

    netfilter: bool = Field(
        default=False,
        description="whether bridged packets pass netfilter's hooks (br_netfilter), which costs time even "
        "without any rule; the host's own setting is left alone",
    )


class OvsOptions(KernelPortOptions):
    """Open vSwitch without DPDK."""

    datapath: Literal["auto", "kernel", "userspace"] = Field(
        default="auto", description="auto: the kernel's where this kernel has it, else userspace"
    )


class OvsDpdkOptions(TechnologyOptions):
    """Open vSwitch with DPDK, ports by vhost-user."""

    pmd_cores: CpuList | None = Field(
        default=None, description="cores that poll ports (pmd-cpu-mask); absent: cores.switch"
    )
    lcores: CpuList | None = Field(
        default=None, description="cores of the switch's other threads (dpdk-lcore-mask); absent: pmd_cores"
    )
    queue_size: QueueSize = Field(default=4096, description=_QUEUE)
    socket_memory_mb: int = Field(default=512, ge=64, le=65536, description="hugepage memory of the switch")


class SrIovOptions(TechnologyOptions):
    """Virtual functions of a network card (never run on hardware); its own embedded switch joins the
    chain, one VLAN a network."""

    parent: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.-]{1,15}$",
        examples=["enp1s0f0"],
        description="network device whose virtual functions are used; absent: the first that has enough",
    )
    driver: Literal["vfio-pci", "igb_uio", "uio_pci_generic"] = Field(
        default="vfio-pci", description="driver that hands virtual functions to weir-dp"
    )
    first_vlan: int = Field(default=100, ge=1, le=4000, description="VLAN of the chain's first network")


class Technologies(Part):
    """Options by technology."""

    direct: DirectOptions = DirectOptions()
    linux_bridge: LinuxBridgeOptions = Field(default=LinuxBridgeOptions(), alias="linux-bridge")
    ovs: OvsOptions = OvsOptions()
    ovs_dpdk: OvsDpdkOptions = Field(default=OvsDpdkOptions(), alias="ovs-dpdk")
    sr_iov: SrIovOptions = Field(default=SrIovOptions(), alias="sr-iov")


def technology_fields() -> tuple[tuple[str, str], ...]:
    """(field of `Technologies`, name of the technology), in order."""
    return tuple((name, field.alias or name) for name, field in Technologies.model_fields.items())
