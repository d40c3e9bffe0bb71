# SPDX-License-Identifier: Apache-2.0
"""A disk image of the user's. Weir, mostly root, opens it for QEMU: so it may lead to no other file.

A qcow2 image that does is refused before QEMU sees it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from weir.base.error import FabricError
from weir.lab import qcow2

DiskFormat = Literal["qcow2", "raw"]


@dataclass(frozen=True)
class Disk:
    """An image that stands alone."""

    path: Path
    format: DiskFormat
    size_bytes: int
    """Of the disk in it."""


def of(params: Mapping[str, Any]) -> DiskFormat:
    """The format that a step's parameters name."""
    return "raw" if params["image_format"] == "raw" else "qcow2"


def checked(path: Path, form: DiskFormat, descriptor: int | None = None) -> Disk:
    """FabricError if it is not of that format, or leads to another file. `descriptor`: it is open already."""
    try:
        # Without waiting, as one would for a pipe's other end.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if descriptor is None else os.dup(descriptor)
        try:
            status = os.fstat(fd)
            header = os.pread(fd, qcow2.HEADER_BYTES, 0) if stat.S_ISREG(status.st_mode) else b""
        finally:
            os.close(fd)
    except OSError as error:
        raise FabricError(f"vm.image {path}: {error.strerror}", "name a file that can be read") from error
    if not stat.S_ISREG(status.st_mode):
        raise FabricError(f"vm.image {path} is no file", "name a disk image in a file, no device")
    if form == "raw":
        return Disk(path, form, status.st_size)
    wrong = qcow2.fault(path, header)
    if wrong is not None:
        what, fix = wrong
        raise FabricError(f"vm.image {what}", fix)
    return Disk(path, form, qcow2.disk_bytes(header))
