# SPDX-License-Identifier: Apache-2.0
"""Versions, and what the kernel does about flaws of the CPU
(Documentation/admin-guide/hw-vuln)."""

from __future__ import annotations

import platform
import shutil
import subprocess

from weir import __version__
from weir.fabric.built import built
from weir.fabric.errors import FabricError
from weir.fabric.host.tree import Tree
from weir.fabric.openvswitch import version as openvswitch_version
from weir.host.facts import Software

_PATIENCE_S = 1.0


def software(tree: Tree) -> Software:
    """Of this machine, programs too; of a recorded one, what its files say."""
    flaws = tree.glob("sys/devices/system/cpu/vulnerabilities/*")
    found = {path.name: tree.text(str(path)) or "" for path in flaws}
    return Software(
        kernel=platform.release() if tree.real else _release(tree),
        clocksource=tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        mitigations={name: said for name, said in found.items() if said.startswith("Mitigation")},
        versions=_versions() if tree.real else {},
    )


def _release(tree: Tree) -> str:
    words = (tree.text("proc/version") or "").split()
    return words[2] if len(words) > 2 else "unknown"


def _versions() -> dict[str, str]:
    try:
        data_plane = _first_line(str(built("weir-dp")), "--version").removeprefix("weir-dp ")
    except FabricError:
        data_plane = ""
    qemu = _first_line("qemu-system-x86_64", "--version").partition("version ")[2]
    return {
        "weir": __version__,
        "python": platform.python_version(),
        "weir-dp": data_plane,
        "openvswitch": openvswitch_version() if shutil.which("ovs-vswitchd") else "",
        "qemu": qemu.split(" ")[0],
    }


def _first_line(*argv: str) -> str:
    """What a program says first; nothing if it is not there, or does not answer."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0]
