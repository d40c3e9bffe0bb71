# SPDX-License-Identifier: Apache-2.0
"""A disk image of the user's. Weir, mostly root, opens it for QEMU: so it may lead to no other file.

The header of a qcow2 image can name a backing file, and one for its data, and QEMU would open both. They are
read here, before QEMU sees the image, and refused (docs/interop/qcow2.rst of QEMU).
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from weir.base.error import FabricError

DiskFormat = Literal["qcow2", "raw"]
_MAGIC = b"QFI\xfb"
_HEADER = struct.Struct(">4sIQIIQ")
"""Magic, version, offset and size of the backing file's name, cluster bits, size of the disk."""
_FEATURES_AT = 72
_EXTERNAL_DATA = 1 << 2
_VERSION_WITH_FEATURES = 3


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
            header = os.pread(fd, _FEATURES_AT + 8, 0) if stat.S_ISREG(status.st_mode) else b""
        finally:
            os.close(fd)
    except OSError as error:
        raise FabricError(f"vm.image {path}: {error.strerror}", "name a file that can be read") from error
    if not stat.S_ISREG(status.st_mode):
        raise FabricError(f"vm.image {path} is no file", "name a disk image in a file, no device")
    if form == "raw":
        return Disk(path, form, status.st_size)
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        raise FabricError(
            f"vm.image {path} is no qcow2 image", "name one, or say vm.image_format: raw if it is one"
        )
    _, version, backing_at, _, _, size_bytes = _HEADER.unpack_from(header)
    features = 0
    if version >= _VERSION_WITH_FEATURES and len(header) >= _FEATURES_AT + 8:
        (features,) = struct.unpack_from(">Q", header, _FEATURES_AT)
    for leads, what in ((backing_at, "a backing file"), (features & _EXTERNAL_DATA, "a file for its data")):
        if leads:
            raise FabricError(
                f"vm.image {path} names {what}, which QEMU would open too",
                f"make an image that stands alone: qemu-img convert -O qcow2 {path} whole.qcow2",
            )
    return Disk(path, form, size_bytes)
