# SPDX-License-Identifier: Apache-2.0
"""Steps of one QEMU and its guest, be that a function of a chain or an instance of a tenant. Pure.

The ports are at fixed places of the guest's PCI bus, so that what is in it can be told beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.base.node import Machine
from weir.base.step import Param, Step

PCI_SLOTS = {"left": 0x10, "right": 0x11}
"""Of a function's ports."""
HOST_SLOTS = {"eth0": 0x10}
"""Of an instance's."""
GUESTS = Step(
    kind="guests",
    name="guests",
    params={},
    text="make a directory on disk for what guests write, and choose a user without rights for QEMU",
    undo_text="remove the directory",
)


@dataclass(frozen=True)
class GuestPort:
    """A port of a guest, by what QEMU has of it: a tap interface or a vhost-user socket."""

    mac: str
    next_hop: str = ""
    """MAC address to which it forwards; empty: it is no function's."""
    interface: str = ""
    socket: str = ""
    primary: str = ""
    """Of a failover pair: the tap of the other device."""

    def params(self, name: str) -> dict[str, Param]:
        """Of a step `vm`."""
        return {
            f"{name}_mac": self.mac,
            f"{name}_next_hop": self.next_hop,
            f"{name}_interface": self.interface,
            f"{name}_socket": self.socket,
            f"{name}_primary": self.primary,
        }


def slots(params: Mapping[str, Any]) -> dict[str, int]:
    """PCI places of the ports that a step `vm` names."""
    return {name: slot for name, slot in (PCI_SLOTS | HOST_SLOTS).items() if f"{name}_mac" in params}


def seed_step(node: str, machine: Machine, addresses: Mapping[str, Param]) -> Step:
    """For an image of the user's. `addresses`: "left_mac", …, which cloud-init gets as meta-data."""
    return Step(
        kind="vm-seed",
        name=f"vm-seed:{node}",
        params={
            "node": node,
            "image": machine.image or "",
            "image_format": machine.image_format,
            "user_data": machine.user_data or "",
            "overlay_mb": machine.overlay_mb,
            **addresses,
        },
        text=f"make what {node} writes to instead of its image, and what cloud-init reads in it",
        undo_text="remove both",
    )


def start_step(
    node: str,
    machine: Machine,
    ports: Mapping[str, GuestPort],
    text: str,
    *,
    netns: str,
    guest_memory_mb: int = 0,
    incoming: bool = False,
) -> Step:
    """QEMU, whose taps are in `netns`. `guest_memory_mb`: of the weir-dp in it; 0: there is none. `incoming`:
    it waits for a guest that is migrated to it."""
    params: dict[str, Param] = {
        "node": node,
        "incoming": incoming,
        "failover": machine.failover,
        "netns": netns,
        "forwarder": machine.forwarder or "",
        "image": machine.image or "",
        "image_format": machine.image_format,
        "vcpus": machine.vcpus,
        "memory_mb": machine.memory_mb,
        "hugepages": machine.hugepages,
        "queues": machine.queues,
        "accel": machine.accel,
        "guest_memory_mb": guest_memory_mb,
    }
    for name, port in ports.items():
        params |= port.params(name)
    return Step(
        kind="vm", name=f"vm:{node}", params=params, text=text, undo_text=f"end virtual machine {node}"
    )


def ready_step(
    node: str,
    machine: Machine,
    cores: Sequence[int],
    text: str,
    *,
    configure: str = "",
    incoming: bool = False,
) -> Step:
    """A guest that is up, pinned to these cores. `configure`: what its weir-dp is told."""
    return Step(
        kind="vm-ready",
        name=f"vm-ready:{node}",
        params={
            "node": node,
            "incoming": incoming,
            "forwarder": machine.forwarder or "",
            "ready": machine.ready,
            "configure": configure,
            "cores": list(cores),
            "time_limit_ms": round(machine.boot_time_limit_s * 1000),
        },
        text=text,
        undo_text="",
    )


def how_large(machine: Machine) -> str:
    """ "two virtual CPUs" of a machine, for people."""
    return f"{machine.vcpus} virtual CPUs" if machine.vcpus > 1 else "one virtual CPU"
