# SPDX-License-Identifier: Apache-2.0
"""Pages and network cards (Documentation/admin-guide/mm/hugetlbpage, PCI/pci-iov-howto, driver-api/vfio)."""

from __future__ import annotations

import re
from pathlib import Path

from weir.fabric import probe, sriov
from weir.fabric.host.tree import Tree
from weir.host.facts import Devices, HugepagePool, Memory, Nic

TUN = Path("/dev/net/tun")
"""The device by which tap interfaces are made."""


def memory(tree: Tree) -> Memory:
    """Hugepages by node, and what moves or merges pages meanwhile."""
    thp = re.search(r"\[(\w+)\]", tree.text("sys/kernel/mm/transparent_hugepage/enabled") or "")
    return Memory(
        pools=tuple(_pools(tree)),
        transparent=thp[1] if thp else None,
        numa_balancing=tree.flag("proc/sys/kernel/numa_balancing"),
        ksm=tree.flag("sys/kernel/mm/ksm/run"),
    )


def _pools(tree: Tree) -> list[HugepagePool]:
    places = tree.glob("sys/devices/system/node/node[0-9]*/hugepages/hugepages-*kB")
    return [
        HugepagePool(
            node=int(path.parts[-3].removeprefix("node")) if "node" in path.parts else -1,
            page_kb=int(path.name.removeprefix("hugepages-").removesuffix("kB")),
            total=tree.number(f"{path}/nr_hugepages") or 0,
            free=tree.number(f"{path}/free_hugepages") or 0,
        )
        for path in places or tree.glob("sys/kernel/mm/hugepages/hugepages-*kB")
    ]


def devices(tree: Tree) -> Devices:
    """Network cards and the IOMMU."""
    return Devices(
        nics=tuple(_nic(tree, path.parts[-2]) for path in tree.glob("sys/class/net/*/device")),
        iommu_groups=len(tree.glob("sys/kernel/iommu_groups/*")),
        vfio_loaded=tree.exists("sys/bus/pci/drivers/vfio-pci"),
    )


def _nic(tree: Tree, name: str) -> Nic:
    place = f"sys/class/net/{name}"
    node, speed = tree.number(f"{place}/device/numa_node"), tree.number(f"{place}/speed")
    return Nic(
        name=name,
        driver=tree.link(f"{place}/device/driver") or "unknown",
        node=node if node is not None and node >= 0 else None,
        up=tree.text(f"{place}/operstate") == "up",
        speed_mbps=speed if speed is not None and speed > 0 else None,
        vfs_offered=sriov.offered(tree.root / "sys", name),
        vfs_made=tree.number(f"{place}/device/sriov_numvfs") or 0,
        offloads=probe.offloads(name) if tree.real else None,
        rx_stamps=probe.rx_stamps(name) if tree.real else None,
    )
