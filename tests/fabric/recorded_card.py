# SPDX-License-Identifier: Apache-2.0
"""sysfs as the kernel lays it out for an Intel X710, and a kernel that answers writes to it.

Directories and links are where i40e and iavf have them; of files only those are here that Weir reads or
writes.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any, ClassVar

PARENT = "ens1f0"
_CARD = "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
_FILES = {
    "vendor": "0x8086\n",
    "device": "0x1572\n",
    "numa_node": "0\n",
    "sriov_totalvfs": "64\n",
    "sriov_numvfs": "0\n",
    "driver_override": "(null)\n",
}
_DRIVERS = ("i40e", "iavf", "vfio-pci")


class Machine:
    """The tree under `sysfs`; give `write` to whoever would write to files of it."""

    def __init__(self, sysfs: Path) -> None:
        self.sysfs = sysfs
        self._card = sysfs / _CARD
        for driver in _DRIVERS:
            (sysfs / "bus/pci/drivers" / driver).mkdir(parents=True)
        (sysfs / "bus/pci/devices").mkdir()
        (sysfs / "class/net").mkdir(parents=True)
        self._device(self._card, _FILES, group=30)
        self._interface(self._card, PARENT, "up")
        self._link(self._card / "driver", sysfs / "bus/pci/drivers/i40e")
        self.writes = 0
        self.dies_at: int | None = None

    def write(self, path: Path, text: str) -> None:
        """What the kernel does about it. KilledError at write number `dies_at`, which has no effect."""
        self.writes += 1
        if self.writes == self.dies_at:
            raise KilledError
        assert path.parent.is_dir(), path
        if path.name == "sriov_numvfs":
            self._functions(int(text))
        elif path.name == "driver_override":
            path.write_text(f"{text.strip() or '(null)'}\n")
        elif path.name == "unbind":
            self._unbind(self.sysfs / "bus/pci/devices" / text)
        elif path.name == "bind":
            self._bind(self.sysfs / "bus/pci/devices" / text, path.parent.name)
        else:
            raise AssertionError(f"nobody writes {path}")

    def driver(self, number: int) -> str:
        """The driver of a virtual function."""
        return (self._card / f"virtfn{number}/driver").resolve().name

    def picture(self) -> dict[str, str]:
        """All files with what is in them, and all links with where they lead."""
        seen = {}
        for path in self.sysfs.rglob("*"):
            name = str(path.relative_to(self.sysfs))
            if path.is_symlink():
                seen[name] = str(path.readlink())
            elif path.is_file():
                seen[name] = path.read_text()
        return seen

    def _functions(self, count: int) -> None:
        before = int((self._card / "sriov_numvfs").read_text())
        if before and count:
            raise OSError(errno.EBUSY, "Device or resource busy")
        for number in range(max(before, count)):
            address = f"0000:3b:02.{number}"
            function = self._card.parent / address
            if count:
                self._device(function, {"numa_node": "0\n", "driver_override": "(null)\n"}, group=80 + number)
                self._link(function / "physfn", self._card)
                self._link(self._card / f"virtfn{number}", function)
                self._bind(function, "iavf")
            else:
                self._unbind(function)
                for link in (self._card / f"virtfn{number}", self.sysfs / "bus/pci/devices" / address):
                    link.unlink()
                shutil.rmtree(self.sysfs / f"kernel/iommu_groups/{80 + number}")
                shutil.rmtree(function)
        (self._card / "sriov_numvfs").write_text(f"{count}\n")

    def _device(self, directory: Path, files: dict[str, str], group: int) -> None:
        directory.mkdir(parents=True)
        for name, text in files.items():
            (directory / name).write_text(text)
        (self.sysfs / f"kernel/iommu_groups/{group}/devices").mkdir(parents=True)
        self._link(directory / "iommu_group", self.sysfs / f"kernel/iommu_groups/{group}")
        self._link(self.sysfs / "bus/pci/devices" / directory.name, directory)

    def _bind(self, device: Path, driver: str) -> None:
        function = device.resolve()
        if (function / "driver_override").read_text().strip() not in ("(null)", driver):
            raise OSError(errno.ENODEV, "No such device")
        if (function / "driver").is_symlink():
            raise OSError(errno.EBUSY, "Device or resource busy")
        self._link(function / "driver", self.sysfs / "bus/pci/drivers" / driver)
        if driver == "iavf":
            self._interface(function, f"{PARENT}v{function.name[-1]}", "down")

    def _unbind(self, device: Path) -> None:
        function = device.resolve()
        if not (function / "driver").is_symlink():
            return
        (function / "driver").unlink()
        for interface in (function / "net").glob("*"):
            (self.sysfs / "class/net" / interface.name).unlink()
        shutil.rmtree(function / "net", ignore_errors=True)

    def _interface(self, device: Path, name: str, state: str) -> None:
        (device / "net" / name).mkdir(parents=True)
        (device / "net" / name / "operstate").write_text(f"{state}\n")
        self._link(device / "net" / name / "device", device)
        self._link(self.sysfs / "class/net" / name, device / "net" / name)

    @staticmethod
    def _link(path: Path, target: Path) -> None:
        path.symlink_to(os.path.relpath(target, path.parent))


class KilledError(BaseException):
    """As if weir had been killed."""


class Settings:
    """MAC addresses and VLANs of virtual functions, as the card's driver keeps them."""

    kept: ClassVar[dict[int, dict[str, Any]]] = {}

    def __init__(self, parent: str, number: int) -> None:
        assert parent == PARENT
        self._number = number

    def read(self) -> dict[str, Any]:
        return dict(self.kept[self._number])

    def write(self, settings: dict[str, Any]) -> None:
        self.kept[self._number] = dict(settings)
