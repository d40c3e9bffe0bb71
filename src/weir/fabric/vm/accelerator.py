# SPDX-License-Identifier: Apache-2.0
"""Whether KVM runs guests here: /dev/kvm existing proves nothing, so one is booted, within a time limit."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from weir.fabric.host.guest import kvm
from weir.fabric.host.tree import Tree

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
