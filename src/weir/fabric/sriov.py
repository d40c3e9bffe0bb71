# SPDX-License-Identifier: Apache-2.0
"""SR-IOV by sysfs: what a machine has, and the step kind sriov-vf, which makes and binds one function.

See the kernel's Documentation/PCI/pci-iov-howto and driver-api/vfio. Everything takes the root of sysfs as a
parameter, and how a file of it is written, so that it is tested against a tree as a machine with such a card
has it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import netlink
from weir.fabric.site import Facts, Site
from weir.plan import Step
from weir.technology.sriov import SrIovOptions

_SHOW_FUNCTIONS = 1  # RTEXT_FILTER_VF of linux/rtnetlink.h


class FunctionSettings:
    """Of function `number` of the card behind the interface `parent`."""

    def __init__(self, parent: str, number: int) -> None:
        self._parent = parent
        self._number = number

    def read(self) -> dict[str, Any]:
        """`mac` and `vlan` (0: none). FabricError if the card does not tell."""
        with netlink.opened(IPRoute) as route:
            for link in route.link("get", index=self._index(route), ext_mask=_SHOW_FUNCTIONS):
                functions = link.get_attr("IFLA_VFINFO_LIST")
                for function in functions.get_attrs("IFLA_VF_INFO") if functions else ():
                    mac, vlan = function.get_attr("IFLA_VF_MAC"), function.get_attr("IFLA_VF_VLAN")
                    if mac["vf"] == self._number:
                        return {"mac": mac["mac"], "vlan": vlan["vlan"]}
        raise FabricError(f"{self._parent} does not tell about its virtual function {self._number}")

    def write(self, settings: dict[str, Any]) -> None:
        """Sets both. FabricError with the card's refusal."""
        with netlink.opened(IPRoute) as route:
            try:
                route.link("set", index=self._index(route), vf={"vf": self._number, **settings})
            except NetlinkError as error:
                raise FabricError(
                    f"cannot set the address of virtual function {self._number} of {self._parent}: {error}"
                ) from error

    def _index(self, route: IPRoute) -> int:
        found = route.link_lookup(ifname=self._parent)
        if not found:
            raise FabricError(f"there is no interface {self._parent}", "was it removed or renamed?")
        return int(found[0])


SYSFS = Path("/sys")
VFIO = Path("/dev/vfio")
_FOR_PROGRAMS = frozenset({"vfio-pci", "igb_uio", "uio_pci_generic", "pci-stub"})
"""Drivers that make no network interface."""
Write = Callable[[Path, str], object]


def offered(sysfs: Path, parent: str) -> int | None:
    """Virtual functions that the card behind an interface can have; None if it cannot have any."""
    return _number(sysfs / "class/net" / parent / "device/sriov_totalvfs")


def chosen(sysfs: Path, functions: int) -> str | None:
    """The first interface whose card can have that many virtual functions."""
    for total in sorted((sysfs / "class/net").glob("*/device/sriov_totalvfs")):
        if (_number(total) or 0) >= functions:
            return total.parent.parent.name
    return None


def missing(sysfs: Path, options: SrIovOptions) -> list[str]:
    """What this machine lacks for SR-IOV, each a clause; empty if nothing."""
    lacking = []
    parent = options.parent
    if parent is None:
        if chosen(sysfs, 1) is None:
            lacking.append("no network device has virtual functions (sriov_totalvfs), and the lab names none")
    elif not (sysfs / "class/net" / parent).exists():
        lacking.append(f"there is no interface {parent} (technologies.sr-iov.parent)")
    elif offered(sysfs, parent) is None:
        lacking.append(f"{parent} has no SR-IOV capability (no sriov_totalvfs)")
    elif offered(sysfs, parent) == 0:
        lacking.append(f"{parent} offers 0 virtual functions: its firmware has SR-IOV switched off")
    if options.driver == "vfio-pci" and not any((sysfs / "kernel/iommu_groups").glob("*")):
        lacking.append("no IOMMU is switched on (no groups in /sys/kernel/iommu_groups)")
    if not (sysfs / "bus/pci/drivers" / options.driver).is_dir():
        lacking.append(f"the {options.driver} driver is not loaded")
    return lacking


def opened(group: Path) -> bool:
    """Whether a program has opened a VFIO group, which only one can."""
    try:
        os.close(os.open(group, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


class SriovVf:
    """One virtual function, bound to a driver that DPDK can use, with an address and a VLAN of its own."""

    def __init__(
        self,
        sysfs: Path = SYSFS,
        write: Write = Path.write_text,
        settings: type[FunctionSettings] = FunctionSettings,
        opened: Callable[[Path], bool] = opened,
    ) -> None:
        self._opened = opened
        self._sysfs = sysfs
        self._write = write
        self._settings = settings

    def do(self, step: Step, site: Site) -> Facts:
        """Makes sure that the function is there, and binds it. Facts: its PCI address, what was before."""
        number, functions = int(str(step.params["vf"])), int(str(step.params["functions"]))
        driver = str(step.params["driver"])
        parent = str(step.params["parent"]) or chosen(self._sysfs, functions)
        if parent is None:
            raise FabricError(
                f"no network card can have {functions} virtual functions", "use a shorter chain, or direct"
            )
        device = self._sysfs / "class/net" / parent / "device"
        made = not step.params["named"]
        if made:
            self._make(device, parent, functions, site)
        elif not (device / f"virtfn{number}").exists():
            raise FabricError(
                f"{parent} has no virtual function {number}, which technologies.sr-iov.functions names",
                "name such as are there, or none: then Weir makes them",
            )
        address = (device / f"virtfn{number}").resolve().name
        function = self._sysfs / "bus/pci/devices" / address
        if driver == "vfio-pci" and not (function / "iommu_group").exists():
            raise FabricError(
                f"virtual function {address} of {parent} is in no IOMMU group",
                "switch the IOMMU on (intel_iommu=on or amd_iommu=on), or use another driver",
            )
        settings = self._settings(parent, number)
        before: Facts = {"address": address, "driver_before": _driver(function)}
        before["override_before"] = (function / "driver_override").read_text().strip()
        if not made:
            self._refuse_used(function, parent)
            before |= {"parent": parent, "settings_before": settings.read()}
        site.note(before)
        settings.write({"mac": str(step.params["mac"]), "vlan": int(str(step.params["vlan"]))})
        self._bind(function, override=driver, driver=driver)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Binds the driver that it had, and removes the functions if this step made them."""
        if "address" in facts:
            function = self._sysfs / "bus/pci/devices" / str(facts["address"])
            if function.exists():
                override = facts["override_before"]
                self._bind(
                    function,
                    override="\n" if override in ("", "(null)") else override,
                    driver=facts["driver_before"],
                )
            if "settings_before" in facts and function.exists():
                self._settings(facts["parent"], int(params["vf"])).write(facts["settings_before"])
        if "numvfs" in facts and _number(Path(facts["numvfs"])) == facts["made"]:
            self._write(Path(facts["numvfs"]), "0")

    def datapath(self, facts: Facts) -> str:  # noqa: ARG002
        """Between its functions the card forwards."""
        return "switch of the network card (SR-IOV)"

    def in_kernel(self, facts: Facts) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def _make(self, device: Path, parent: str, functions: int, site: Site) -> None:
        """Makes the functions of the whole deployment, of which this may not be the first step."""
        file = device / "sriov_numvfs"
        before, total = _number(file), _number(device / "sriov_totalvfs")
        if before is None or total is None:
            raise FabricError(
                f"{parent} offers no virtual functions",
                "name an SR-IOV capable interface in technologies.sr-iov",
            )
        if functions > total:
            raise FabricError(
                f"{parent} has {total} virtual functions, {functions} are needed", "use a shorter chain"
            )
        if before and str(file) in site.noted("numvfs"):
            return
        if before:
            raise FabricError(
                f"{parent} has {before} virtual functions that Weir did not make",
                "name those that it may use in technologies.sr-iov.functions, or remove them all "
                f"(echo 0 > {file}), unless somebody needs them",
            )
        site.note({"numvfs": str(file), "made": functions})
        self._write(file, str(functions))

    def _bind(self, function: Path, *, override: str, driver: str) -> None:
        """Sets the override, and binds the driver unless it is bound; none where `driver` is empty."""
        self._write(function / "driver_override", override)
        now = _driver(function)
        if now == driver:
            return
        if now:
            self._write(function / "driver/unbind", function.name)
        if driver:
            self._write(self._sysfs / "bus/pci/drivers" / driver / "bind", function.name)

    def _refuse_used(self, function: Path, parent: str) -> None:
        """One whose interface is up, or in another network namespace (a pod's), or that a program has opened
        by VFIO (a virtual machine's)."""
        used = f"virtual function {function.name} of {parent} is in use"
        for state in (function / "net").glob("*/operstate"):
            if state.read_text().strip() == "up":
                raise FabricError(
                    f"{used}: {state.parent.name} is up",
                    f"take it down first: ip link set {state.parent.name} down",
                )
        driver = _driver(function)
        if driver in _FOR_PROGRAMS:
            group = function / "iommu_group"
            if group.exists() and self._opened(VFIO / group.resolve().name):
                raise FabricError(
                    f"{used}: a program has opened its VFIO group {group.resolve().name}",
                    "end that program, or name another function in technologies.sr-iov.functions",
                )
        elif driver and not any((function / "net").glob("*")):
            raise FabricError(
                f"{used}: it is bound to {driver}, and its interface is in another network namespace",
                "move it back, or name another function in technologies.sr-iov.functions",
            )


def _driver(function: Path) -> str:
    """The driver's name, or nothing."""
    link = function / "driver"
    return link.readlink().name if link.is_symlink() else ""


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except OSError:
        return None
