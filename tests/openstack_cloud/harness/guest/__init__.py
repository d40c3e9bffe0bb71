# SPDX-License-Identifier: Apache-2.0
"""A disk image of a small system: Debian's kernel for clouds, busybox, dropbear; it takes its address, key
and script from the cloud, as images with cloud-init do."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from weir.fabric.vm import packages

PROGRAMS = {"busybox": "busybox-static", "dropbear": "dropbear-bin", "dropbearkey": "dropbear-bin"}
MODULES = ("virtio_pci", "virtio_net", "virtio_blk", "virtio_rng")
_DIRECTORIES = (
    "bin",
    "dev",
    "etc",
    "lib/modules",
    "proc",
    "root/.ssh",
    "run",
    "sys",
    "tmp",
    "var/log",
    "usr/share/udhcpc",
)
_SIZE_MIB = 40
_SYSLINUX = """DEFAULT weir
PROMPT 0
TIMEOUT 0
LABEL weir
KERNEL kernel
INITRD initrd
APPEND console=ttyS0 quiet
"""
_KEPT = Path(os.environ.get("XDG_CACHE_HOME", "/var/cache")) / "weir-openstack"


def make(image: Path) -> None:
    """FabricError names the package that is missing; CalledProcessError otherwise."""
    sources = Path(__file__).parent
    with packages.kernel(_KEPT) as kernel, tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        root = place / "root"
        for name in _DIRECTORIES:
            (root / name).mkdir(parents=True, exist_ok=True)
        found = {name: packages.program(name, package) for name, package in PROGRAMS.items()}
        files = {f"bin/{name}": path for name, path in found.items()} | dict(
            packages.libraries(found.values())
        )
        for name, path in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, root / name)
            (root / name).chmod(0o755)
        for number, path in enumerate(kernel.ordered(MODULES)):
            shutil.copyfile(path, root / "lib/modules" / f"{number:02}-{path.name}")
        for name, target in (("init", "init"), ("lease", "usr/share/udhcpc/default.script")):
            shutil.copyfile(sources / name, root / target)
            (root / target).chmod(0o755)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (root / "etc/group").write_text("root:x:0:\n")
        (root / "etc/shells").write_text("/bin/sh\n")
        shutil.copyfile(kernel.image, place / "kernel")
        (place / "initrd").write_bytes(_archive(root))
        (place / "syslinux.cfg").write_text(_SYSLINUX)
        _disk(image, [place / name for name in ("kernel", "initrd", "syslinux.cfg")])


def _archive(root: Path) -> bytes:
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    done = subprocess.run(
        ["cpio", "--quiet", "-o", "-H", "newc"],
        input=names.encode(),
        capture_output=True,
        check=True,
        cwd=root,
    )
    return gzip.compress(done.stdout)


def _disk(image: Path, files: list[Path]) -> None:
    """One FAT file system, without partitions, that a BIOS boots from."""
    with image.open("wb") as out:
        out.truncate(_SIZE_MIB << 20)
    geometry = ["-t", str(_SIZE_MIB), "-h", "64", "-s", "32"]  # 1 MiB a track
    subprocess.run(["mformat", "-i", str(image), *geometry, "::"], check=True)
    subprocess.run(["mcopy", "-i", str(image), *map(str, files), "::"], check=True)
    subprocess.run(["syslinux", "--install", str(image)], check=True)
