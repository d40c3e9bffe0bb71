# SPDX-License-Identifier: Apache-2.0
"""An initramfs: a cpio archive as the kernel reads it ("newc", Documentation/driver-api/early-userspace).

The same files make the same bytes: no times, no owners, sorted names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_MAGIC = b"070701"
_DIRECTORY, _FILE, _LINK = 0o040755, 0o100000, 0o120000
_ALIGNMENT_BYTES = 4
_END = "TRAILER!!!"


@dataclass(frozen=True)
class Member:
    """One file."""

    data: bytes
    mode: int = 0o644
    link: bool = False
    """A symbolic link; `data` is where it leads."""


def initramfs(files: Mapping[str, Member], directories: tuple[str, ...] = ()) -> bytes:
    """The archive. Names are relative to the root; directories of files come by themselves."""
    needed = {str(parent) for name in (*files, *directories) for parent in PurePosixPath(name).parents}
    needed |= {*directories}
    entries = [(name, _DIRECTORY, b"") for name in sorted(needed - {"."})]
    entries += [(name, _kind(member) | member.mode, member.data) for name, member in sorted(files.items())]
    return b"".join(_entries([*entries, (_END, 0, b"")]))


def _kind(member: Member) -> int:
    return _LINK if member.link else _FILE


def _entries(entries: list[tuple[str, int, bytes]]) -> Iterator[bytes]:
    for number, (name, mode, data) in enumerate(entries, 1):
        path = name.encode() + b"\0"
        # inode, mode, uid, gid, links, mtime, size, device and rdevice twice, length of the name, checksum
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        header = _MAGIC + b"".join(b"%08x" % field for field in fields)
        yield _padded(header + path) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGNMENT_BYTES)
