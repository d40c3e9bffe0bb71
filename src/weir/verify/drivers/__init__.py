# SPDX-License-Identifier: Apache-2.0
"""The drivers, by name; each is given the file of the system under test, and a directory for its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from weir.fabric import require_root_to_verify
from weir.lab.sut import DriverName, SutFile
from weir.verify.driver import Driver
from weir.verify.drivers.local import LocalDriver


def _openstack(sut: SutFile, directory: Path) -> Driver:
    from weir.verify.drivers.openstack import OpenStackDriver

    return OpenStackDriver(sut, directory)


DRIVERS: Mapping[DriverName, Callable[[SutFile, Path], Driver]] = {
    "local": LocalDriver,
    "openstack": _openstack,
}


def require_rights(sut: SutFile) -> None:
    """FabricError for a user who may not build what the system's driver builds, before anything is made."""
    if sut.driver == "local":
        require_root_to_verify()
