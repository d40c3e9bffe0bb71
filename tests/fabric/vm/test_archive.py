# SPDX-License-Identifier: Apache-2.0
"""The initramfs: what cpio reads from it, and that the same files make the same bytes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from weir.fabric.vm.image_build import Member, initramfs

FILES = {
    "init": Member(b"#!/bin/sh\n", 0o755),
    "a/b/odd": Member(b"12345"),
    "a/link": Member(b"b/odd", 0o777, link=True),
}


def test_the_same_files_make_the_same_bytes_in_any_order() -> None:
    assert initramfs(FILES) == initramfs(dict(reversed(FILES.items())))


def test_every_member_and_every_directory_above_it_is_there_once() -> None:
    archive = initramfs(FILES, ("var/run",))
    for name in ("init", "a", "a/b", "a/b/odd", "a/link", "var", "var/run", "TRAILER!!!"):
        assert archive.count(name.encode() + b"\0") == 1
    assert len(archive) % 4 == 0


@pytest.mark.skipif(shutil.which("bsdtar") is None, reason="needs bsdtar of libarchive-tools")
def test_another_program_unpacks_it(tmp_path: Path) -> None:
    subprocess.run(["bsdtar", "-x", "-f", "-"], input=initramfs(FILES), cwd=tmp_path, check=True)
    assert (tmp_path / "a/link").read_bytes() == b"12345"
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755
