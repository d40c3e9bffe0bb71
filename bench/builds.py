# SPDX-License-Identifier: Apache-2.0
"""How both sides of a bench were compiled, and the second build of ours.

A distribution compiles DPDK for any x86-64 of the last fifteen years; ours is compiled for the machine that
it runs on. That is how both are used, but part of a ratio is then the compiler's. So where the peer is the
distribution's, ours is measured a second time, built as that is: `as_packaged()`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.conditions import ROOT
from bench.pairs import SkipError

OWN, GENERIC = ROOT / "build", ROOT / "build" / "generic"
TARGETS = ("native/weir-dp", "native/weir-lean", "benches")
PROGRAMS = {"WEIR_DP": "native/weir-dp", "WEIR_LEAN": "native/weir-lean"}
_UNKNOWN = "unknown"


def chosen() -> Path | None:
    """The data plane that benches run in place of this tree's own build."""
    named = os.environ.get("WEIR_DP")
    return Path(named) if named else None


def ours() -> str:
    """Of the programs that benches run now."""
    program = chosen()
    folder = OWN if program is None else program.parents[1]
    options = folder / "meson-info" / "intro-buildoptions.json"
    if not options.is_file():
        return f"{folder}: how it was built is unknown"
    found = {one["name"]: one["value"] for one in json.loads(options.read_text(encoding="utf-8"))}
    return f"built here, -march={found.get('march', _UNKNOWN)}, {found.get('buildtype', _UNKNOWN)}"


def python() -> str:
    """Where the data plane takes no part."""
    return f"Python {platform.python_version()}"


def python_package(name: str) -> str:
    """Where a package of Python takes part in both sides."""
    try:
        return f"{name} {importlib.metadata.version(name)}, {python()}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name}, which is not installed"


def distribution() -> str:
    """Its name: "Debian GNU/Linux 12"."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "the distribution"
    return f"{release.get('NAME', _UNKNOWN)} {release.get('VERSION_ID', '')}".strip()


@functools.cache
def packaged_march() -> str:
    """What DPDK was compiled for, and says that its users should be."""
    found = re.search(r"-march=(\S+)", _output("pkg-config", "--cflags", "libdpdk"))
    return found.group(1) if found else _UNKNOWN


def dpdk() -> str:
    """Of DPDK's own programs and libraries here."""
    version = _output("pkg-config", "--modversion", "libdpdk") or _UNKNOWN
    prefix = _output("pkg-config", "--variable=prefix", "libdpdk")
    origin = f"package of {distribution()}" if prefix == "/usr" else f"of {prefix or _UNKNOWN}"
    return f"DPDK {version}, {origin}, -march={packaged_march()}"


def package(name: str, remark: str = "") -> str:
    """Of a Debian package."""
    version = _output("dpkg-query", "--show", "--showformat=${Version}", name) or "of unknown version"
    return f"{name} {version}, package of {distribution()}{f', {remark}' if remark else ''}"


def named(variable: str, otherwise: Callable[[], str] | None = None) -> str:
    """Of a program whose path an environment variable has: what the user says of it in <variable>_BUILD.

    `otherwise` says it where the variable is not set.
    """
    if otherwise is not None and variable not in os.environ:
        return otherwise()
    return os.environ.get(f"{variable}_BUILD") or f"how it was built is unknown ({variable}_BUILD says it)"


def make(folder: Path, *options: str) -> None:
    """Brings a build up to date. SkipError with the compiler's words if it cannot be."""
    if not (folder / "build.ninja").is_file():
        call("meson", "setup", str(folder), "--buildtype=release", *options)
    call("ninja", "-C", str(folder), *TARGETS)


@contextmanager
def as_packaged() -> Iterator[None]:
    """Benches run programs that are compiled for what DPDK's package is."""
    if packaged_march() == _UNKNOWN:
        raise SkipError("pkg-config does not say what DPDK was compiled for")
    make(GENERIC, f"-Dmarch={packaged_march()}")
    before = {variable: os.environ.get(variable) for variable in PROGRAMS}
    os.environ |= {variable: str(GENERIC / path) for variable, path in PROGRAMS.items()}
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value


def _output(*argv: str) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def call(*argv: str) -> None:
    """Runs a compiler or what calls one. SkipError with its last words if it fails."""
    owner = ROOT.stat()  # with sudo: what is built belongs to whoever owns the tree
    who = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 and owner.st_uid else {}
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, **who)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise SkipError(f"{argv[0]} failed: {done.stdout[-300:]}{done.stderr[-300:]}".strip())
