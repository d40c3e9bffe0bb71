# SPDX-License-Identifier: Apache-2.0
"""What this machine lacks for virtual machines, before anything is touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator

from weir.base.error import FabricError
from weir.fabric import probe
from weir.fabric.host.devices import TUN
from weir.fabric.host.guest import kvm, kvm_groups
from weir.fabric.host.tree import Tree
from weir.fabric.vm import image
from weir.lab.vm import VmOptions
from weir.technology import TECHNOLOGIES

QEMU = "qemu-system-x86_64"


def lacking(machines: Iterable[VmOptions], technology: str) -> tuple[str, str] | None:
    """What is missing and how that can be mended; None if nothing is."""
    taps = TECHNOLOGIES[technology].machine_port == "vm-tap"
    found = (guest_lacking(one.forwards_by() or "", one.accel, taps=taps) for one in machines)
    return next((one for one in found if one is not None), None)


def lacking_failover() -> tuple[str, str] | None:
    """Likewise for a machine that is to be migrated, whose guest's kernel forwards."""
    made = image.found("kernel")
    if image.PRIMARY_DRIVER in made.made_of.get("modules", ""):
        return None
    return (
        f"the guest image {made.digest} has no driver for the primary of a failover pair",
        "make a new one: `weir image build --forwarder kernel`",
    )


def guest_lacking(role: str, accel: str, *, taps: bool) -> tuple[str, str] | None:
    """The same of one guest of that role, a GuestRole; "": of an image of the user's. `taps`: it has some."""
    for program, package in _programs(role):
        if shutil.which(program) is None:
            return f"{program} not installed", f"install the Debian package {package}"
    if taps and not os.access(TUN, os.R_OK | os.W_OK):
        return f"there is no {TUN} to use, which tap interfaces need", "load the kernel's tun module"
    hidden = _lacking_capability()
    if hidden is not None:
        return hidden
    try:
        image.of_role(role)
    except FabricError as error:
        return error.message, error.fix
    return _lacking_kvm() if accel == "kvm" else None


def _lacking_capability() -> tuple[str, str] | None:
    if probe.sees_other_users():
        return None
    return (
        "the kernel hides processes of QEMU's own user from this one, which could not find them again",
        "run this with the capability CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)",
    )


def _programs(role: str) -> Iterator[tuple[str, str]]:
    """Those that it needs, with the packages that they come with."""
    yield QEMU, "qemu-system-x86"
    for program in ("setpriv", "prlimit"):
        yield program, "util-linux"
    if role == "":
        yield "qemu-img", "qemu-utils"


def _lacking_kvm() -> tuple[str, str] | None:
    if kvm(Tree()) != "works":
        return "KVM runs no guest here", "set vm.accel to auto or tcg, which emulates the processor"
    if kvm_groups() is None:
        return "QEMU's own user may not use /dev/kvm", "give it to a group: chgrp kvm, chmod g+rw"
    return None
