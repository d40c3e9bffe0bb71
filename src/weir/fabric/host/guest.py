# SPDX-License-Identifier: Apache-2.0
"""Whether KVM really runs a guest: one is made that executes a single instruction, `hlt`.

In a child process with a time-out, because /dev/kvm can exist and hang. Numbers and structures are those of
the kernel's <linux/kvm.h> on x86 (Documentation/virt/kvm/api).
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import select
import signal
import stat
import struct
from contextlib import suppress

from weir.fabric.host.cpus import cpuinfo
from weir.fabric.host.tree import Tree
from weir.host.facts import KvmState

TIMEOUT_S = 1.0
_DEVICE = "/dev/kvm"
_GROUP, _OTHERS = stat.S_IRGRP | stat.S_IWGRP, stat.S_IROTH | stat.S_IWOTH
_CREATE_VM, _CREATE_VCPU, _VCPU_MMAP_SIZE, _RUN = 0xAE01, 0xAE41, 0xAE04, 0xAE80
_SET_MEMORY, _GET_SREGS, _SET_SREGS, _SET_REGS = 0x4020AE46, 0x8138AE83, 0x4138AE84, 0x4090AE82
_SREGS_BYTES, _EXIT_REASON_AT, _EXIT_HLT = 312, 8, 5
_HLT = b"\xf4"
_FLAGS_ALWAYS_SET = 2


def kvm(tree: Tree, device: str = _DEVICE, timeout_s: float = TIMEOUT_S) -> KvmState:
    """What became of the attempt."""
    if not os.path.exists(device):  # noqa: PTH110 - a device, not a path of ours
        return "absent"
    if not os.access(device, os.R_OK | os.W_OK):
        return "forbidden"
    said = _answer(device, timeout_s)
    if said is None:
        return "hangs"
    if said != "halted":
        return "refuses"
    flags = (cpuinfo(tree, "flags") or "").split()
    return "works" if {"vmx", "svm"} & set(flags) else "software"


def kvm_groups(device: str = _DEVICE) -> list[int] | None:
    """The groups with which somebody without rights may use KVM; None: it may not."""
    try:
        status = os.stat(device)  # noqa: PTH116 - a device, not a path of ours
    except OSError:
        return None
    if status.st_mode & _OTHERS == _OTHERS:
        return []
    # Never root's group, which may do more than use this device.
    return [status.st_gid] if status.st_mode & _GROUP == _GROUP and status.st_gid != 0 else None


def _answer(device: str, timeout_s: float) -> str | None:
    """What the child says; None if nothing in time. A child that hangs in the kernel is left there."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.write(writer, b"halted" if _halts(device) else b"no")
        os._exit(0)
    os.close(writer)
    try:
        if not select.select([reader], [], [], timeout_s)[0]:
            os.kill(child, signal.SIGKILL)
            return None
        return os.read(reader, 16).decode() or "no"
    finally:
        os.close(reader)
        os.waitpid(child, os.WNOHANG)


def _halts(device: str) -> bool:
    """Runs the guest on one page of memory at address 0."""
    system = os.open(device, os.O_RDWR | os.O_CLOEXEC)
    machine = fcntl.ioctl(system, _CREATE_VM, 0)
    page = mmap.mmap(-1, mmap.PAGESIZE)
    page[:1] = _HLT
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    fcntl.ioctl(machine, _SET_MEMORY, struct.pack("=IIQQQ", 0, 0, 0, mmap.PAGESIZE, address))
    vcpu = fcntl.ioctl(machine, _CREATE_VCPU, 0)
    registers = bytearray(_SREGS_BYTES)
    fcntl.ioctl(vcpu, _GET_SREGS, registers)
    registers[:8], registers[12:14] = bytes(8), bytes(2)  # cs.base and cs.selector: address 0
    fcntl.ioctl(vcpu, _SET_SREGS, registers)
    fcntl.ioctl(vcpu, _SET_REGS, struct.pack("=18Q", *[0] * 17, _FLAGS_ALWAYS_SET))
    run = mmap.mmap(vcpu, fcntl.ioctl(system, _VCPU_MMAP_SIZE, 0))
    fcntl.ioctl(vcpu, _RUN, 0)
    return int.from_bytes(run[_EXIT_REASON_AT : _EXIT_REASON_AT + 4], "little") == _EXIT_HLT
