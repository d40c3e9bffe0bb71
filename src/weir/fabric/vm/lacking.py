# SPDX-License-Identifier: Apache-2.0
"""What this machine lacks for virtual machines, before anything is touched; whether KVM runs guests here."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from weir.fabric.errors import FabricError
from weir.fabric.host.devices import TUN
from weir.fabric.host.guest import kvm
from weir.fabric.host.tree import Tree
from weir.fabric.vm import image
from weir.lab.vm import VmOptions
from weir.technology import TECHNOLOGIES

QEMU = "qemu-system-x86_64"
BOOT_S = 10.0
PROBE_MB = 256


@functools.cache
def kvm_boots(kernel: Path, initramfs: Path) -> bool:
    """Whether this image gets as far as to switch itself off, under KVM. Takes as long as that, or BOOT_S."""
    if kvm(Tree()) != "works":
        return False
    argv = [QEMU, "-accel", "kvm", "-cpu", "host", "-m", str(PROBE_MB), "-nodefaults", "-no-user-config"]
    argv += ["-display", "none", "-no-reboot", "-kernel", str(kernel), "-initrd", str(initramfs)]
    try:
        done = subprocess.run(
            [*argv, "-append", "weir.forwarder=nothing quiet"],
            capture_output=True,
            check=False,
            timeout=BOOT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def lacking(machines: Iterable[VmOptions], technology: str) -> tuple[str, str] | None:
    """What is missing and how that can be mended; None if nothing is."""
    for machine in machines:
        found = _lacking(machine, technology)
        if found is not None:
            return found
    return None


def lacking_failover() -> tuple[str, str] | None:
    """Likewise for a machine that is to be migrated, whose guest's kernel forwards."""
    made = image.found("kernel")
    if image.PRIMARY_DRIVER in made.made_of.get("modules", ""):
        return None
    return (
        f"the guest image {made.digest} has no driver for the primary of a failover pair",
        "make a new one: `weir image build --forwarder kernel`",
    )


def _lacking(machine: VmOptions, technology: str) -> tuple[str, str] | None:
    if shutil.which(QEMU) is None:
        return f"{QEMU} not installed", "install the Debian package qemu-system-x86"
    if machine.image is not None and shutil.which("qemu-img") is None:
        return "qemu-img not installed", "install the Debian package qemu-utils"
    if TECHNOLOGIES[technology].machine_port == "vm-tap" and not os.access(TUN, os.R_OK | os.W_OK):
        return f"there is no {TUN} to use, which tap interfaces need", "load the kernel's tun module"
    forwarder = machine.forwards_by()
    if forwarder is not None:
        try:
            image.found(forwarder)
        except FabricError as error:
            return error.message, error.fix
    if machine.accel == "kvm" and kvm(Tree()) != "works":
        return "KVM runs no guest here", "set vm.accel to auto or tcg, which emulates the processor"
    return None
