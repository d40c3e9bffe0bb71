# SPDX-License-Identifier: Apache-2.0
"""The guest's kernel from a distribution package, fetched and unpacked but not installed on this host; and
programs of this host with the libraries that they need."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.lock import scratch

KERNEL = "linux-image-cloud-amd64"
_FETCH_S = 300
_SCRATCH = ".unpacked-"
_LIBRARY = re.compile(r"(?:=>\s*)?(/\S+)\s+\(0x")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel package."""

    package: str
    version: str
    image: Path
    modules: Path

    def ordered(self, wanted: Iterable[str]) -> list[Path]:
        """These modules and what they need, in the order in which they must be loaded.

        What is built into the kernel is left out. FabricError if a needed module is compressed.
        """
        there = {
            path.name.partition(".ko")[0].replace("-", "_"): path for path in self.modules.rglob("*.ko*")
        }
        found: dict[str, Path] = {}

        def take(name: str) -> None:
            path = there.get(name.replace("-", "_"))
            if path is None or path.name in found:
                return
            if path.suffix != ".ko":
                raise FabricError(
                    f"module {path.name} of {self.package} is compressed", f"use Debian's {KERNEL}"
                )
            depends = _DEPENDS.search(path.read_bytes())
            for other in depends[1].decode().split(",") if depends else ():
                take(other)
            found[path.name] = path

        for name in wanted:
            take(name)
        return list(found.values())


@contextmanager
def kernel(store: Path) -> Iterator[Kernel]:
    """The newest kernel that apt knows, unpacked for the body. `store`: where its package is kept.

    FabricError if apt does not know it or cannot fetch it, and it is not there yet.
    """
    package = _depended(KERNEL)
    version = _field(package, "Version")
    store.mkdir(parents=True, exist_ok=True)
    file = store / f"{package}_{version.replace(':', '%3a')}_amd64.deb"
    if not file.is_file():
        _fetch(package, version, store)
    with scratch(store, _SCRATCH) as root:
        _run(["dpkg-deb", "--extract", str(file), str(root)], f"{file} cannot be unpacked", "remove it")
        image = next(root.glob("boot/vmlinuz-*"), None)
        modules = next(root.glob("lib/modules/*"), None)
        if image is None or modules is None:
            raise FabricError(f"{file.name} has no kernel", f"expected what Debian's {KERNEL} depends on")
        yield Kernel(package, version, image, modules)


def _depended(package: str) -> str:
    for name in ("apt-get", "apt-cache", "dpkg-deb"):
        if shutil.which(name) is None:
            raise FabricError(
                f"there is no {name} here", "guest images are made of Debian's packages: use Debian"
            )
    found = re.findall(r"^\s*Depends: (linux-image-\S+)", _apt_cache("depends", package), re.M)
    if not found:
        raise FabricError(
            f"apt does not know {package}", "run `apt-get update`; it is a package of Debian 12"
        )
    return str(found[0])


def _field(package: str, name: str) -> str:
    found = re.search(rf"^{name}: (\S+)", _apt_cache("show", package), re.M)
    if found is None:
        raise FabricError(f"apt does not know {package}", "run `apt-get update`")
    return found[1]


def _apt_cache(*words: str) -> str:
    return subprocess.run(["apt-cache", *words], capture_output=True, text=True, check=False).stdout


def _fetch(package: str, version: str, store: Path) -> None:
    # In a directory of its own, so that an interrupted download is no package.
    with scratch(store, _SCRATCH) as directory:
        _run(
            ["apt-get", "download", "--quiet", f"{package}={version}"],
            f"{package} cannot be fetched",
            f"go online, run `apt-get update`, or put the package into {store}",
            directory,
        )
        for path in directory.glob("*.deb"):
            path.rename(store / path.name)


def _run(argv: list[str], failing: str, fix: str, directory: Path | None = None) -> None:
    try:
        done = subprocess.run(
            argv, cwd=directory, capture_output=True, text=True, check=False, timeout=_FETCH_S
        )
    except subprocess.TimeoutExpired as late:
        raise FabricError(f"{failing}: {argv[0]} does not end within {_FETCH_S} s", fix) from late
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise FabricError(f"{failing}: {last}", fix)


def program(name: str, package: str) -> Path:
    """A program of this host. FabricError names the package that it comes with."""
    path = shutil.which(name, path="/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    if path is None:
        raise FabricError(f"there is no {name} here for the guest", f"install the Debian package {package}")
    return Path(path).resolve()


def libraries(binaries: Iterable[Path]) -> dict[str, Path]:
    """The shared libraries that these need, loader included: paths in the guest, and here.

    FabricError if one is missing.
    """
    found: dict[str, Path] = {}
    for binary in binaries:
        said = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False).stdout
        missing = re.findall(r"(\S+) => not found", said)
        if missing:
            raise FabricError(f"{binary} needs {', '.join(missing)}, which is not here", "install it")
        for path in _LIBRARY.findall(said):
            found[path.lstrip("/")] = Path(path).resolve()
    return found
