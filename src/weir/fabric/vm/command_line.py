# SPDX-License-Identifier: Apache-2.0
"""What QEMU is told: its arguments for one virtual machine. Pure.

QEMU's own user may open next to nothing, so it inherits what it needs as descriptors: files as sets of one
(/dev/fdset/N), what it only opens by a name as /dev/fd/N. Its sockets it makes where it is started.

The ports are virtio devices at fixed places of the guest's PCI bus, without offloads: what the tester counts
as a packet is one everywhere. Memory is a memfd that is shared, because a vhost-user switch maps it.

A machine that is migrated has each of them as the stand-by of a failover pair (QEMU's documentation has it in
docs/system/virtio-net-failover.rst). The primary is in a slot of its own, which must be PCI Express: so the
machine is a q35. It is an emulated card that the guest's image has a driver for, as a stand-in for a virtual
function, which QEMU takes from the guest and gives back in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Literal

from weir.base.node import GUESTS
from weir.fabric.vm.image import PRIMARY_DRIVER
from weir.plan.guest_steps import PCI_SLOTS, slots
from weir.plan.vm_steps import guest_cores

CHANNEL = "weir"
_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_QUEUE_SIZE = 1024
_TAP_SEND_QUEUE_SIZE = 256  # the most that QEMU has without vhost-user
_OFFLOADS = ["csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"]
_OFFLOADS += ["host_tso4", "host_tso6", "host_ecn", "host_ufo"]


@dataclass(frozen=True)
class Files:
    """Sockets of one virtual machine."""

    directory: Path
    """The deployment's run directory."""
    node: str

    @property
    def sockets(self) -> Path:
        """Where QEMU makes them, and is started."""
        return self.directory / GUESTS

    @property
    def monitor(self) -> Path:
        """QMP's socket."""
        return self.sockets / f"{self.node}.qmp"

    @property
    def channel(self) -> Path:
        """The socket that leads to the virtio-serial port in the guest."""
        return self.sockets / f"{self.node}.guest"

    @property
    def migration(self) -> Path:
        """The socket at which a QEMU takes a migrated guest."""
        return self.sockets / f"{self.node}.migration"


@dataclass(frozen=True)
class Opened:
    """Numbers of the descriptors that QEMU inherits."""

    console: int
    """Takes what the guest says on its serial console."""
    taps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Queues by interface."""
    vhosts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """vhost-net's by interface, where the kernel carries it."""
    kernel: int | None = None
    """To boot, with its initramfs; None: from the user's image, whose overlay and seed are there then."""
    initramfs: int | None = None
    image: int | None = None
    overlay: int | None = None
    seed: int | None = None

    def numbers(self) -> tuple[int, ...]:
        """All of them."""
        several = [*self.taps.values(), *self.vhosts.values()]
        single = (self.console, self.kernel, self.initramfs, self.image, self.overlay, self.seed)
        return (*(one for one in single if one is not None), *(one for queues in several for one in queues))


def command_line(
    params: Mapping[str, Any], files: Files, opened: Opened, accel: Literal["kvm", "tcg"]
) -> list[str]:
    """The arguments after the program's name. `params`: of the step `vm`."""
    argv = ["-name", files.node, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    argv += ["-sandbox", _SANDBOX]
    kind = "q35" if params["failover"] else "pc"
    argv += ["-machine", f"{kind},memory-backend=memory", *_accelerator(accel)]
    argv += ["-m", str(params["memory_mb"]), "-smp", str(params["vcpus"]), "-object", _memory(params)]
    # QEMU makes sockets in this order: once its monitor listens, the guest's channel does.
    argv += ["-chardev", f"socket,id=channel,path={files.channel.name},server=on,wait=off"]
    argv += ["-chardev", f"socket,id=monitor,path={files.monitor.name},server=on,wait=off"]
    argv += ["-mon", "chardev=monitor,mode=control"]
    # Appending: a pipe cannot be cut off, which QEMU would try.
    argv += [*_set(opened.console), "-chardev", f"file,id=console,path={_in_set(opened.console)},append=on"]
    argv += ["-serial", "chardev:console"]
    argv += ["-device", "virtio-serial-pci,addr=0x8"]
    argv += ["-device", f"virtserialport,chardev=channel,name={CHANNEL}"]
    argv += _disks(params, opened) if opened.kernel is None else _booting(params, opened)
    for side, slot in slots(params).items():
        argv += _port(params, opened, side, slot, accel)
        if params["failover"]:
            argv += _primary(params, opened, side)
    return [*argv, "-incoming", "defer"] if params["incoming"] else argv


def _accelerator(accel: Literal["kvm", "tcg"]) -> list[str]:
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", "max"]


def _memory(params: Mapping[str, Any]) -> str:
    # Taken at once: where pages are too few, QEMU says so instead of ending in the middle of a measurement.
    huge = ",hugetlb=on,hugetlbsize=2M,prealloc=on" if params["hugepages"] else ""
    return f"memory-backend-memfd,id=memory,size={params['memory_mb']}M,share=on{huge}"


def hostname(node: str) -> str:
    """What a guest calls itself."""
    return node.replace(".", "-")


def _set(number: int | None) -> list[str]:
    return ["-add-fd", f"fd={number},set={number}"]


def _in_set(number: int | None) -> str:
    return f"/dev/fdset/{number}"


def _booting(params: Mapping[str, Any], opened: Opened) -> list[str]:
    # An emulated guest beside busy programs gets its first ticks late, and would take its timer for broken.
    words = ["console=ttyS0", "quiet", "panic=-1", "no_timer_check", "ipv6.disable=1"]
    words += [f"weir.forwarder={params['forwarder']}", f"weir.queues={params['queues']}"]
    for side in slots(params):
        words.append(f"weir.{side}={params[f'{side}_mac']}")
        if params[f"{side}_next_hop"]:
            words.append(f"weir.{side}_next_hop={params[f'{side}_next_hop']}")
    if params["forwarder"] == "host":
        words.append(f"weir.hostname={hostname(params['node'])}")
    if params["guest_memory_mb"]:
        words.append(f"hugepages={params['guest_memory_mb'] // 2}")
        words.append(f"weir.memory_mb={params['guest_memory_mb']}")
        words.append(f"weir.cores={','.join(map(str, guest_cores(params['vcpus'])))}")
    files = ["-kernel", f"/dev/fd/{opened.kernel}", "-initrd", f"/dev/fd/{opened.initramfs}"]
    return [*files, "-append", " ".join(words)]


def _disks(params: Mapping[str, Any], opened: Opened) -> list[str]:
    """The overlay on the image, which itself is on nothing, whatever its header says by now.

    A guest whose disk is full stands still, and its monitor says so.
    """
    origin: dict[str, Any] = {
        "driver": params["image_format"],
        "node-name": "origin",
        "read-only": True,
        "file": {"driver": "file", "filename": _in_set(opened.image), "read-only": True},
    }
    if params["image_format"] == "qcow2":
        origin |= {"backing": None}
    overlay = {
        "driver": "qcow2",
        "node-name": "disk",
        "file": {"driver": "file", "filename": _in_set(opened.overlay)},
        "backing": "origin",
    }
    return [
        *_set(opened.image),
        "-blockdev", json.dumps(origin),
        *_set(opened.overlay),
        "-blockdev", json.dumps(overlay),
        "-device", "virtio-blk-pci,drive=disk,bootindex=0,werror=stop",
        "-blockdev", f"driver=vvfat,node-name=seed,dir=/dev/fd/{opened.seed},label=cidata,read-only=on",
        "-device", "virtio-blk-pci,drive=seed",
    ]  # fmt: skip


def _port(
    params: Mapping[str, Any],
    opened: Opened,
    side: str,
    slot: int,
    accel: Literal["kvm", "tcg"],
) -> list[str]:
    queues, socket = int(params["queues"]), str(params[f"{side}_socket"])
    several = f",queues={queues}" if queues > 1 else ""
    argv = []
    if socket:
        argv += ["-chardev", f"socket,id=chardev-{side},path={PurePath(socket).name},server=on"]
        argv += ["-netdev", f"vhost-user,id={side},chardev=chardev-{side}{several}"]
    else:
        argv += ["-netdev", _tap(side, opened, str(params[f"{side}_interface"]))]
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


def _tap(name: str, opened: Opened, interface: str) -> str:
    fast = opened.vhosts.get(interface, ())
    carried = f"vhost=on,{_listed('vhostfd', fast)}" if fast else "vhost=off"
    return f"tap,id={name},{_listed('fd', opened.taps[interface])},{carried}"


def _listed(key: str, numbers: tuple[int, ...]) -> str:
    return f"{key}{'s' if len(numbers) > 1 else ''}={':'.join(map(str, numbers))}"


def _primary(params: Mapping[str, Any], opened: Opened, side: str) -> list[str]:
    chassis = 1 + list(PCI_SLOTS).index(side)
    device = f"{PRIMARY_DRIVER},id={primary(side)},netdev=tap-{primary(side)},bus=slot-{side},"
    # Without a ROM to boot from: the second QEMU has this device, and its ROM, only when the guest is there.
    device += f"mac={params[f'{side}_mac']},failover_pair_id={standby(side)},romfile="
    return [
        "-device", f"pcie-root-port,id=slot-{side},bus=pcie.0,addr={chassis:#x},chassis={chassis}",
        "-netdev", _tap(f"tap-{primary(side)}", opened, str(params[f"{side}_primary"])),
        "-device", device,
    ]  # fmt: skip


def standby(side: str) -> str:
    """What QEMU calls the virtio device of a pair."""
    return f"standby-{side}"


def primary(side: str) -> str:
    """And the other one."""
    return f"primary-{side}"
