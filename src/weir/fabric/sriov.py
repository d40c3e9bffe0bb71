# SPDX-License-Identifier: Apache-2.0
"""SR-IOV by sysfs: what a machine has, and the step kind sriov-vf, which makes and binds one function.

See the kernel's Documentation/PCI/pci-iov-howto and driver-api/vfio. Everything takes the root of sysfs as a
parameter, so that it is tested against a tree as a machine with such a NIC has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.fabric.errors import FabricError
from weir.fabric.step_kind import Facts, Site
from weir.plan import Step


def capable(sysfs: Path) -> list[str]:
    """Interfaces whose device offers virtual functions."""
    found = []
    for total in sorted((sysfs / "class/net").glob("*/device/sriov_totalvfs")):
        if int(total.read_text()) > 0:
            found.append(total.parent.parent.name)
    return found


def missing(sysfs: Path) -> list[str]:
    """What this machine lacks for SR-IOV, each a clause; empty if nothing."""
    lacking = []
    if not capable(sysfs):
        lacking.append("no network device has virtual functions (sriov_totalvfs)")
    if not any((sysfs / "kernel/iommu_groups").glob("*")):
        lacking.append("no IOMMU is switched on (no groups in /sys/kernel/iommu_groups)")
    if not (sysfs / "bus/pci/drivers/vfio-pci").is_dir():
        lacking.append("the vfio-pci driver is not loaded")
    return lacking


class SriovVf:
    """One virtual function, bound to a driver that DPDK can use."""

    def __init__(self, sysfs: Path = Path("/sys")) -> None:
        self._sysfs = sysfs

    def do(self, step: Step, site: Site) -> Facts:
        """Makes sure that the function is there and binds it. Facts: its PCI address and what was before."""
        parent, number = str(step.params["parent"]), int(str(step.params["vf"]))
        driver = str(step.params["driver"])
        device = self._sysfs / "class/net" / parent / "device"
        functions = device / "sriov_numvfs"
        before = int(_read(functions, parent))
        total = int(_read(device / "sriov_totalvfs", parent))
        if number >= total:
            raise FabricError(f"{parent} has {total} virtual functions, number {number} is not among them")
        if before <= number:
            if before:
                raise FabricError(
                    f"{parent} has {before} virtual functions in use, {number + 1} are needed",
                    f"set {functions} to {number + 1} yourself: raising it would first remove the others",
                )
            site.note({"numvfs": str(functions), "made": number + 1})
            functions.write_text(str(number + 1))
        address = (device / f"virtfn{number}").resolve().name
        function = self._sysfs / "bus/pci/devices" / address
        old = (function / "driver").resolve().name if (function / "driver").exists() else ""
        site.note({"address": address, "driver_before": old})
        if old != driver:
            (function / "driver_override").write_text(driver)
            if old:
                (function / "driver/unbind").write_text(address)
            (self._sysfs / "bus/pci/drivers" / driver / "bind").write_text(address)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Binds the driver that it had, and removes the functions if this step made them."""
        address = facts.get("address")
        if address is not None:
            function = self._sysfs / "bus/pci/devices" / str(address)
            before = str(facts["driver_before"])
            if function.exists() and before != params["driver"]:
                (function / "driver_override").write_text("\n")
                if (function / "driver").exists():
                    (function / "driver/unbind").write_text(str(address))
                if before:
                    (self._sysfs / "bus/pci/drivers" / before / "bind").write_text(str(address))
        if "numvfs" in facts:
            Path(facts["numvfs"]).write_text("0")


def _read(path: Path, parent: str) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise FabricError(
            f"{parent} offers no virtual functions ({path.name}: {error.strerror})",
            "name an SR-IOV capable interface in technologies.sr-iov",
        ) from error
