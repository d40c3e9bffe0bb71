# SPDX-License-Identifier: Apache-2.0
"""A file that begins as a qcow2 image does."""

from __future__ import annotations

import struct
from pathlib import Path


def write_qcow2(path: Path, *, backing_at: int = 0, size_bytes: int = 1 << 20) -> Path:
    """Of version 3, with clusters of 64 KiB."""
    header = struct.pack(">4sIQIIQ", b"QFI\xfb", 3, backing_at, 0, 16, size_bytes)
    path.write_bytes(header.ljust(512, b"\0"))
    return path
