# SPDX-License-Identifier: Apache-2.0
"""The image of instances' systems: a tree of files made of programs of this host, kept by what it is made
of.

`<cache>/systems/<digest>/` has busybox under the names of all that it does, dropbear with the libraries that
it needs, and init. Nobody writes to it: instances bind it read-only.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.lock import scratch
from weir.fabric.vm.image import cache
from weir.fabric.vm.packages import libraries, program

BUSYBOX = "busybox"
PROGRAMS = {
    BUSYBOX: "busybox-static",
    "dropbear": "dropbear-bin",
    "dropbearkey": "dropbear-bin",
    "setpriv": "util-linux",
}
"""With the Debian packages that they come with."""
_DIRECTORIES = ("dev", "etc", "proc", "root", "run", "tmp", "var")
_EXECUTABLE = 0o755


def lacking() -> str | None:
    """What to install; None if all of it is there."""
    for name, package in PROGRAMS.items():
        try:
            program(name, package)
        except FabricError as error:
            return f"{error.message}; {error.fix}"
    return None


def tree() -> Path:
    """The newest one; made where it is not there yet. FabricError if a program is missing."""
    files = _files()
    place = (cache() / "systems").absolute()
    found = place / _digest(files)
    if not found.is_dir():
        _make(place, found, files)
    return found


def intact(found: Path) -> bool:
    """Whether it still is what it was made of."""
    try:
        return found.name == _digest({name: (found / name).read_bytes() for name in _files()})
    except OSError:
        return False


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def _files() -> Mapping[str, bytes]:
    programs = {name: program(name, package) for name, package in PROGRAMS.items()}
    files = {f"bin/{name}": path.read_bytes() for name, path in programs.items()}
    files |= {name: path.read_bytes() for name, path in libraries(programs.values()).items()}
    own = resources.files("weir.fabric.cloud.system")
    return files | {"init": own.joinpath("init").read_bytes()}


def _make(place: Path, found: Path, files: Mapping[str, bytes]) -> None:
    """All of it or, after a kill, none."""
    place.mkdir(parents=True, exist_ok=True)
    with scratch(place, ".new-") as made:
        root = made / "tree"
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(_EXECUTABLE)
        for name in _DIRECTORIES:
            (root / name).mkdir(exist_ok=True)
        for applet in _applets(root / "bin" / BUSYBOX):
            link = root / "bin" / applet
            if not link.exists():
                link.symlink_to(BUSYBOX)
        root.chmod(_EXECUTABLE)
        if not found.is_dir():
            root.rename(found)


def _applets(busybox: Path) -> list[str]:
    done = subprocess.run([str(busybox), "--list"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FabricError(f"{busybox} does not run: {done.stderr.strip()}", "install busybox-static anew")
    return done.stdout.split()
