# SPDX-License-Identifier: Apache-2.0
"""How `weir image build` makes a guest image of what this machine has.

Its digest is of every byte in it, so the same inputs find the same image and a changed one makes another. The
initramfs is a cpio archive as the kernel reads it ("newc", Documentation/driver-api/early-userspace), without
times and owners and with sorted names.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

from weir.base.error import FabricError
from weir.base.node import Forwarder
from weir.fabric.lock import scratch
from weir.fabric.vm.image import PRIMARY_DRIVER, Image, cache, found
from weir.fabric.vm.packages import Kernel, kernel, libraries, program

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


_LEVEL = 6
_DIRECTORIES = ("dev", "proc", "sys", "run", "tmp", "var/run")
_MODULES = ("virtio_pci", "virtio_net", "virtio_console")
_OF_KERNEL = ("sch_ingress", "cls_matchall", "act_pedit", "act_mirred", PRIMARY_DRIVER)
_OF_WEIR_DP = ("uio_pci_generic",)
_PROGRAMS = {
    "kernel": (("ip", "iproute2"), ("tc", "iproute2"), ("ethtool", "ethtool")),
    "weir-dp": (("socat", "socat"),),
}
# Drivers that weir-dp loads when it starts, besides what it is linked with.
_DRIVERS = ("librte_bus_pci", "librte_bus_vdev", "librte_mempool_ring", "librte_net_virtio")
_DRIVER_FOLDERS = "usr/lib/*/dpdk/pmds-*"
MARCH = "x86-64-v2"
"""What every processor has that DPDK runs on, and an emulated one has too."""


def build(forwarder: Forwarder, weir_dp: Path | None = None) -> tuple[Image, bool]:
    """The image of that kind, and whether it had to be made.

    `weir_dp`: a data plane that runs on any processor. FabricError if something that it needs is missing.
    """
    with kernel(cache() / "packages") as base:
        files, made_of = _files(forwarder, base, weir_dp)
        archive = initramfs(files, _DIRECTORIES)
        digest = hashlib.sha256(base.image.read_bytes() + archive).hexdigest()[:16]
        directory = cache() / "images" / digest
        new = not (directory / "image.json").is_file()
        if new:
            _write(directory, base, archive, made_of)
    link = directory.with_name(forwarder)
    fresh = directory.with_name(f".{forwarder}-{os.getpid()}")
    fresh.symlink_to(digest)
    fresh.replace(link)
    return found(forwarder), new


def _files(
    forwarder: Forwarder, base: Kernel, weir_dp: Path | None
) -> tuple[dict[str, Member], dict[str, str]]:
    modules = base.ordered((*_MODULES, *(_OF_KERNEL if forwarder == "kernel" else _OF_WEIR_DP)))
    programs = {name: program(name, package) for name, package in _PROGRAMS[forwarder]}
    drivers: dict[str, Path] = {}
    if forwarder == "weir-dp":
        assert weir_dp is not None
        programs["weir-dp"] = weir_dp
        drivers = _drivers()
    init = resources.files("weir.fabric.vm").joinpath("guest/init").read_bytes()
    files = {
        "init": Member(init, 0o755),
        "bin/busybox": Member(program("busybox", "busybox-static").read_bytes(), 0o755),
        "modules.list": Member("".join(f"{path.stem}\n" for path in modules).encode()),
    }
    files |= {f"modules/{path.name}": Member(path.read_bytes()) for path in modules}
    files |= {f"programs/{name}": Member(path.read_bytes(), 0o755) for name, path in programs.items()}
    for name, path in (libraries([*programs.values(), *drivers.values()]) | drivers).items():
        # One file under all its names: a library that is loaded twice would register everything twice.
        files[str(path).lstrip("/")] = Member(path.read_bytes(), 0o755)
        if name != str(path).lstrip("/"):
            files[name] = Member(bytes(path), 0o777, link=True)
    made_of = {
        "kernel": f"{base.package} {base.version}",
        "programs": ", ".join(programs),
        "modules": ", ".join(path.stem for path in modules),
        "roles": "kernel, host" if forwarder == "kernel" else forwarder,
    }
    return files, made_of


def _drivers() -> dict[str, Path]:
    """DPDK's, where it looks for them."""
    there = sorted(Path("/").glob(_DRIVER_FOLDERS))
    files = {name: next(there[-1].glob(f"{name}.so*"), None) if there else None for name in _DRIVERS}
    missing = [name for name, path in files.items() if path is None]
    if missing:
        raise FabricError(f"DPDK's {', '.join(missing)} are not here", "install the Debian package dpdk")
    return {str(path).lstrip("/"): path.resolve() for path in files.values() if path is not None}


def _write(directory: Path, base: Kernel, archive: bytes, made_of: dict[str, str]) -> None:
    """All of it or, after a kill, none."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with scratch(directory.parent, ".new-") as made:
        new = made / "image"
        new.mkdir()
        shutil.copyfile(base.image, new / "vmlinuz")
        (new / "initramfs").write_bytes(gzip.compress(archive, _LEVEL, mtime=0))
        for name in ("vmlinuz", "initramfs"):
            (new / name).chmod(0o644)  # QEMU's own user reads both
        (new / "image.json").write_text(json.dumps(made_of, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(directory, ignore_errors=True)
        new.rename(directory)


def portable_weir_dp(source: Path) -> Path:
    """weir-dp for any processor, built from this source tree (minutes the first time). FabricError if not."""
    directory = cache() / "weir-dp" / hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:12]
    if not (source / "meson.build").is_file():
        raise FabricError(
            "there is no source of weir-dp here", "name a weir-dp for the guest: --weir-dp PATH"
        )
    if not (directory / "build.ninja").is_file():
        _make(["meson", "setup", str(directory), str(source), "--buildtype=release", f"-Dmarch={MARCH}"])
    _make(["ninja", "-C", str(directory), "native/weir-dp"])
    return directory / "native" / "weir-dp"


def _make(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise FabricError(f"weir-dp for the guest cannot be built: {lines[-1]}", f"look at: {' '.join(argv)}")
