# SPDX-License-Identifier: Apache-2.0
"""An image of the user's leads QEMU, which runs as root, to no other file."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric.vm.disk import Disk, checked

qemu_img = pytest.mark.skipif(shutil.which("qemu-img") is None, reason="qemu-img is not installed")


def made(path: Path, *words: str) -> Path:
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *words, str(path), "1M"], check=True)
    return path


@qemu_img
def test_an_image_that_stands_alone_is_taken_with_its_size(tmp_path: Path) -> None:
    for version in ("0.10", "1.1"):
        path = made(tmp_path / "own.qcow2", "-o", f"compat={version}")
        assert checked(path, "qcow2") == Disk(path, "qcow2", 1 << 20)


@qemu_img
@pytest.mark.parametrize("version", ["0.10", "1.1"])
def test_a_backing_file_is_refused_with_the_way_out(tmp_path: Path, version: str) -> None:
    secret = tmp_path / "shadow"
    secret.write_text("root:x\n")
    path = made(tmp_path / "own.qcow2", "-o", f"compat={version}", "-u", "-F", "raw", "-b", str(secret))
    with pytest.raises(FabricError, match="names a backing file, which QEMU would open too; make an image"):
        checked(path, "qcow2")


@qemu_img
def test_a_file_for_the_data_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "own.qcow2", "-o", f"data_file={tmp_path / 'data'}")
    with pytest.raises(FabricError, match="names a file for its data"):
        checked(path, "qcow2")


def test_a_raw_image_is_raw_whatever_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "own.raw"
    path.write_bytes(struct.pack(">4sIQIIQ", b"QFI\xfb", 3, 200, 8, 16, 1 << 40).ljust(512, b"\0"))
    assert checked(path, "raw") == Disk(path, "raw", 512)


@pytest.mark.parametrize("content", [b"", b"QFI", b"MZ" + bytes(600)])
def test_what_is_no_qcow2_image_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "own.qcow2"
    path.write_bytes(content)
    with pytest.raises(FabricError, match=r"is no qcow2 image; name one, or say vm\.image_format: raw"):
        checked(path, "qcow2")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FabricError, match=r"none\.qcow2: No such file"):
        checked(tmp_path / "none.qcow2", "qcow2")
