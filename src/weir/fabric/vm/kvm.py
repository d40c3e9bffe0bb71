# SPDX-License-Identifier: Apache-2.0
"""Whether KVM boots a guest here, as the user that QEMU will run as."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from weir.fabric import own_user
from weir.fabric.host.guest import kvm, kvm_groups
from weir.fabric.host.tree import Tree
from weir.fabric.vm.lacking import QEMU

BOOT_S = 10.0
PROBE_MB = 256


@functools.cache
def kvm_boots(kernel: Path, initramfs: Path) -> bool:
    """Whether this image gets as far as to switch itself off, under KVM. Takes as long as that, or BOOT_S."""
    groups = kvm_groups()
    if kvm(Tree()) != "works" or groups is None:
        return False
    as_user = own_user.run_as(own_user.unused_id("whether KVM boots"), groups)
    argv = [
        *as_user,
        QEMU,
        "-accel",
        "kvm",
        "-cpu",
        "host",
        "-m",
        str(PROBE_MB),
        "-nodefaults",
        "-no-user-config",
    ]
    argv += ["-display", "none", "-no-reboot", "-append", "weir.forwarder=nothing quiet"]
    try:
        with kernel.open("rb") as first, initramfs.open("rb") as second:
            numbers = first.fileno(), second.fileno()
            done = subprocess.run(
                [*argv, "-kernel", f"/dev/fd/{numbers[0]}", "-initrd", f"/dev/fd/{numbers[1]}"],
                capture_output=True,
                check=False,
                timeout=BOOT_S,
                pass_fds=numbers,
            )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
