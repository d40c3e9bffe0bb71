# SPDX-License-Identifier: Apache-2.0
"""All facts about a machine, for `weir doctor`: those of its parts, and its software."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from weir import __version__
from weir.base.error import FabricError
from weir.fabric import probe
from weir.fabric.built import native_version
from weir.fabric.host import cpus, devices, power
from weir.fabric.host.guest import kvm
from weir.fabric.host.quota import quota_cpus
from weir.fabric.host.tree import Tree
from weir.host.facts import Facts, Probes, Software

_PATIENCE_S = 1.0


def facts(root: Path = Path("/")) -> Facts:
    """Of this machine, or of one whose /proc and /sys lie under `root`: then nothing is tried out.

    Never raises for what is missing or forbidden; changes nothing; takes a second or so.
    """
    tree = Tree(root)
    return Facts(
        cpus=cpus.cpus(tree).model_copy(update={"quota": quota_cpus(tree)}),
        isolation=cpus.isolation(tree),
        power=power.power(tree),
        interrupts=power.interrupts(tree),
        memory=devices.memory(tree),
        devices=devices.devices(tree),
        probes=_probes(tree) if tree.real else Probes(),
        software=_software(tree),
        unseen=tree.unseen(),
    )


def _probes(tree: Tree) -> Probes:
    seen = Probes(kvm=kvm(tree), cycle_counter=probe.counts_cycles())
    if os.geteuid() != 0:
        tree.hide("namespaces, links and packet sockets", "only root can make one to see")
        return seen
    namespaces = probe.makes_namespaces()
    return seen.model_copy(
        update={
            "namespaces": namespaces,
            "packet_sockets": probe.opens_packet_sockets(),
            "links": {kind: probe.makes(kind) for kind in ("veth", "bridge")} if namespaces else {},
            "ovs_datapath": probe.ovs_datapath(),
        }
    )


def _software(tree: Tree) -> Software:
    """Of this machine, programs too; of a recorded one, what its files say. With what the kernel does about
    flaws of the CPU (Documentation/admin-guide/hw-vuln)."""
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
        data_plane = native_version("weir-dp").removeprefix("weir-dp ")
    except FabricError:
        data_plane = ""
    qemu = _first_line("qemu-system-x86_64", "--version").partition("version ")[2]
    return {
        "weir": __version__,
        "python": platform.python_version(),
        "weir-dp": data_plane,
        "openvswitch": _first_line("ovs-vswitchd", "--version").rpartition(" ")[2],
        "qemu": qemu.split(" ")[0],
    }


def _first_line(*argv: str) -> str:
    """What a program says first; nothing if it is not there, or does not answer."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0]
