# SPDX-License-Identifier: Apache-2.0
"""What QEMU is told: its arguments for one virtual machine. Pure.

The ports are virtio devices at the guest's PCI places 0x10 and 0x11, without offloads: what the tester counts
as a packet is one everywhere. Memory is a memfd that is shared, because a vhost-user switch maps it.

A machine that is migrated has each of them as the stand-by of a failover pair (QEMU's documentation has it in
docs/system/virtio-net-failover.rst). The primary is in a slot of its own, which must be PCI Express: so the
machine is a q35. It is an emulated card that the guest's image has a driver for, as a stand-in for a virtual
function, which QEMU takes from the guest and gives back in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from weir.fabric.vm.image import PRIMARY_DRIVER
from weir.plan.vm_steps import PCI_SLOTS, guest_cores

CHANNEL = "weir"
_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_QUEUE_SIZE = 1024
_TAP_SEND_QUEUE_SIZE = 256  # the most that QEMU has without vhost-user
_OFFLOADS = ["csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"]
_OFFLOADS += ["host_tso4", "host_tso6", "host_ecn", "host_ufo"]


@dataclass(frozen=True)
class Files:
    """Those of one virtual machine, in the run directory."""

    directory: Path
    node: str

    @property
    def monitor(self) -> Path:
        """QMP's socket."""
        return self.directory / f"{self.node}.qmp"

    @property
    def channel(self) -> Path:
        """The socket that leads to the virtio-serial port in the guest."""
        return self.directory / f"{self.node}.guest"

    @property
    def serial(self) -> Path:
        """What the guest says on its serial console."""
        return self.directory / f"{self.node}.serial"

    @property
    def log(self) -> Path:
        """What QEMU says."""
        return self.directory / f"{self.node}.qemu.log"

    @property
    def migration(self) -> Path:
        """The socket at which a QEMU takes a migrated guest."""
        return self.directory / f"{self.node}.migration"

    @property
    def overlay(self) -> Path:
        """What the guest writes to instead of the user's image."""
        return self.directory / f"{self.node}.qcow2"

    @property
    def seed(self) -> Path:
        """What cloud-init reads, as a directory that QEMU shows as a disk."""
        return self.directory / f"{self.node}.seed"


@dataclass(frozen=True)
class Boot:
    """A kernel to boot with its initramfs; None in `command_line`: from the user's disk."""

    kernel: Path
    initramfs: Path


def command_line(
    params: Mapping[str, Any], files: Files, boot: Boot | None, accel: Literal["kvm", "tcg"], *, vhost: bool
) -> list[str]:
    """The arguments after the program's name. `params`: of the step `vm`. `vhost`: taps are the kernel's."""
    argv = ["-name", files.node, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    argv += ["-sandbox", _SANDBOX]
    kind = "q35" if params["failover"] else "pc"
    argv += ["-machine", f"{kind},memory-backend=memory", *_accelerator(accel)]
    argv += ["-m", str(params["memory_mb"]), "-smp", str(params["vcpus"]), "-object", _memory(params)]
    # QEMU makes sockets in this order: once its monitor listens, the guest's channel does.
    argv += ["-chardev", f"socket,id=channel,path={files.channel},server=on,wait=off"]
    argv += ["-chardev", f"socket,id=monitor,path={files.monitor},server=on,wait=off"]
    argv += ["-mon", "chardev=monitor,mode=control", "-serial", f"file:{files.serial}"]
    argv += ["-device", "virtio-serial-pci,addr=0x8"]
    argv += ["-device", f"virtserialport,chardev=channel,name={CHANNEL}"]
    argv += _booting(params, boot) if boot is not None else _disks(params, files)
    for side, slot in PCI_SLOTS.items():
        argv += _port(params, files, side, slot, accel, vhost=vhost)
        if params["failover"]:
            argv += _primary(params, side)
    return [*argv, "-incoming", "defer"] if params["incoming"] else argv


def _accelerator(accel: Literal["kvm", "tcg"]) -> list[str]:
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", "max"]


def _memory(params: Mapping[str, Any]) -> str:
    # Taken at once: where pages are too few, QEMU says so instead of ending in the middle of a measurement.
    huge = ",hugetlb=on,hugetlbsize=2M,prealloc=on" if params["hugepages"] else ""
    return f"memory-backend-memfd,id=memory,size={params['memory_mb']}M,share=on{huge}"


def _booting(params: Mapping[str, Any], boot: Boot) -> list[str]:
    words = ["console=ttyS0", "quiet", "panic=-1", "ipv6.disable=1"]
    words += [f"weir.forwarder={params['forwarder']}", f"weir.queues={params['queues']}"]
    for side in PCI_SLOTS:
        words.append(f"weir.{side}={params[f'{side}_mac']}")
        words.append(f"weir.{side}_next_hop={params[f'{side}_next_hop']}")
    if params["guest_memory_mb"]:
        words.append(f"hugepages={params['guest_memory_mb'] // 2}")
        words.append(f"weir.memory_mb={params['guest_memory_mb']}")
        words.append(f"weir.cores={','.join(map(str, guest_cores(params['vcpus'])))}")
    return ["-kernel", str(boot.kernel), "-initrd", str(boot.initramfs), "-append", " ".join(words)]


def _disks(params: Mapping[str, Any], files: Files) -> list[str]:
    """The overlay on the image, which itself is on nothing, whatever its header says by now."""
    origin: dict[str, Any] = {
        "driver": params["image_format"],
        "node-name": "origin",
        "read-only": True,
        "file": {"driver": "file", "filename": params["image"], "read-only": True},
    }
    if params["image_format"] == "qcow2":
        origin["backing"] = None
    overlay = {
        "driver": "qcow2",
        "node-name": "disk",
        "file": {"driver": "file", "filename": str(files.overlay)},
        "backing": "origin",
    }
    return [
        "-blockdev", json.dumps(origin),
        "-blockdev", json.dumps(overlay),
        "-device", "virtio-blk-pci,drive=disk,bootindex=0",
        "-blockdev", f"driver=vvfat,node-name=seed,dir={files.seed},label=cidata,read-only=on",
        "-device", "virtio-blk-pci,drive=seed",
    ]  # fmt: skip


def _port(
    params: Mapping[str, Any],
    files: Files,
    side: str,
    slot: int,
    accel: Literal["kvm", "tcg"],
    *,
    vhost: bool,
) -> list[str]:
    queues, socket = int(params["queues"]), str(params[f"{side}_socket"])
    several = f",queues={queues}" if queues > 1 else ""
    argv = []
    if socket:
        path = files.directory / socket
        argv += ["-chardev", f"socket,id=chardev-{side},path={path},server=on"]
        argv += ["-netdev", f"vhost-user,id={side},chardev=chardev-{side}{several}"]
    else:
        interface = f"ifname={params[f'{side}_interface']},script=no,downscript=no"
        argv += ["-netdev", f"tap,id={side},{interface},vhost={'on' if vhost else 'off'}{several}"]
    device = f"virtio-net-pci,netdev={side},mac={params[f'{side}_mac']},addr={slot:#x},"
    device += f"rx_queue_size={_QUEUE_SIZE},tx_queue_size={_QUEUE_SIZE if socket else _TAP_SEND_QUEUE_SIZE},"
    device += ",".join(f"{name}=off" for name in _OFFLOADS)
    device += ",mq=on" if queues > 1 else ""
    if socket and accel == "tcg":
        device += ",vectors=0"  # QEMU 7.2 falls over when an emulated guest unmasks MSI-X beside vhost-user
    elif queues > 1:
        device += f",vectors={2 * queues + 2}"
    device += f",id={standby(side)},failover=on" if params["failover"] else ""
    return [*argv, "-device", device]


def _primary(params: Mapping[str, Any], side: str) -> list[str]:
    chassis = 1 + list(PCI_SLOTS).index(side)
    interface = f"ifname={params[f'{side}_primary']},script=no,downscript=no,vhost=off"
    device = f"{PRIMARY_DRIVER},id={primary(side)},netdev=tap-{primary(side)},bus=slot-{side},"
    # Without a ROM to boot from: the second QEMU has this device, and its ROM, only when the guest is there.
    device += f"mac={params[f'{side}_mac']},failover_pair_id={standby(side)},romfile="
    return [
        "-device", f"pcie-root-port,id=slot-{side},bus=pcie.0,addr={chassis:#x},chassis={chassis}",
        "-netdev", f"tap,id=tap-{primary(side)},{interface}",
        "-device", device,
    ]  # fmt: skip


def standby(side: str) -> str:
    """What QEMU calls the virtio device of a pair."""
    return f"standby-{side}"


def primary(side: str) -> str:
    """And the other one."""
    return f"primary-{side}"
