# SPDX-License-Identifier: Apache-2.0
"""The header of a qcow2 image (docs/interop/qcow2.rst of QEMU), which must lead to no other file: it can name
a backing file, and one for its data, and QEMU would open both."""

from __future__ import annotations

import struct
from pathlib import Path

from weir.lab.vm import GuestOptions

_MAGIC = b"QFI\xfb"
_HEADER = struct.Struct(">4sIQIIQ")
"""Magic, version, offset and size of the backing file's name, cluster bits, size of the disk."""
_FEATURES_AT = 72
_EXTERNAL_DATA = 1 << 2
_VERSION_WITH_FEATURES = 3
HEADER_BYTES = _FEATURES_AT + 8


def disk_bytes(header: bytes) -> int:
    """Of the disk in an image that has no fault."""
    size: int = _HEADER.unpack_from(header)[-1]
    return size


def fault(path: Path, header: bytes) -> tuple[str, str] | None:
    """What is wrong with the image that begins like this, and what to do; None: it stands alone."""
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        return f"{path} is no qcow2 image", "name one, or say vm.image_format: raw if it is one"
    _, version, backing_at, *_ = _HEADER.unpack_from(header)
    features = 0
    if version >= _VERSION_WITH_FEATURES and len(header) >= HEADER_BYTES:
        (features,) = struct.unpack_from(">Q", header, _FEATURES_AT)
    for leads, what in ((backing_at, "a backing file"), (features & _EXTERNAL_DATA, "a file for its data")):
        if leads:
            return (
                f"{path} names {what}, which QEMU would open too",
                f"make an image that stands alone: qemu-img convert -O qcow2 {path} whole.qcow2",
            )
    return None


def image_fault(machine: GuestOptions, path: Path) -> str | None:
    """Of the image of a machine, which is at that path; None: none, or whoever builds it has to look, since
    it may not be read here."""
    if machine.image_format != "qcow2":
        return None
    try:
        with path.open("rb") as file:
            found = fault(path, file.read(HEADER_BYTES))
    except OSError:
        return None
    return "; ".join(found) if found is not None else None
