# SPDX-License-Identifier: Apache-2.0
"""Steps for virtual machines: all are started, then each is waited for, told what to do and pinned.

The ports are at fixed places of the guest's PCI bus, so that a weir-dp in it can be told of them beforehand.
"""

from __future__ import annotations

import json
from typing import Any

from weir.plan.architecture import RING_PACKETS, function_areas, next_hop
from weir.plan.dataplane_config import PlanError
from weir.plan.memory import GUEST_QUEUE_SIZE, guest_mbufs, guest_memory_mb
from weir.plan.step import Param, Step
from weir.plan.topology import switch_namespace
from weir.spec.lab import Lab
from weir.spec.topology import Machine, Node, Port, Topology

PCI_SLOTS = {"left": 0x10, "right": 0x11}
GUEST_SYSTEM_MB = 224  # what the guest's kernel and its files in memory take
_STALL_THRESHOLD_US = 1000  # in a guest the host's own stalls add to those of its kernel


def vm_steps(topology: Topology, lab: Lab) -> list[Step]:
    """In order; none without virtual machines. PlanError if one has too little memory."""
    nodes = topology.machines()
    plan = [
        _seed(topology, node) for node in nodes if node.machine is not None and node.machine.image is not None
    ]
    plan += [_start(topology, node) for node in nodes]
    return [*plan, *(_ready(topology, lab, node) for node in nodes)]


def guest_cores(vcpus: int) -> tuple[int, ...]:
    """CPUs of the guest on which its weir-dp polls: the first is left to the rest, where there is another."""
    return tuple(range(1, vcpus)) or (0,)


def guest_config(topology: Topology, node: Node) -> dict[str, Any]:
    """The arguments of `configure` for the weir-dp in a virtual machine."""
    assert node.machine is not None
    inside = node.model_copy(update={"cores": guest_cores(node.machine.vcpus)})
    function = function_areas(topology, inside)
    return {
        "ports": [_guest_port(topology.port(f"{node.name}.{side}")) for side in PCI_SLOTS],
        "rings": [{"name": ring, "size": RING_PACKETS} for ring in function.rings],
        "areas": function.areas,
        "stall_threshold_us": {str(core): _STALL_THRESHOLD_US for core in inside.cores},
        "ledger": True,
        "mbufs": guest_mbufs(node),
    }


def _guest_port(port: Port) -> dict[str, Any]:
    return {
        "name": port.name,
        "mac": port.mac,
        "wire": "virtual",
        "rx_queue_size": GUEST_QUEUE_SIZE,
        "tx_queue_size": GUEST_QUEUE_SIZE,
        "devargs": f"0000:00:{PCI_SLOTS[port.side]:02x}.0",
    }


def _seed(topology: Topology, node: Node) -> Step:
    assert node.machine is not None
    addresses: dict[str, Param] = {}
    for side in PCI_SLOTS:
        port = topology.port(f"{node.name}.{side}")
        addresses |= {f"{side}_mac": port.mac, f"{side}_next_hop": next_hop(topology, port).mac}
    return Step(
        kind="vm-seed",
        name=f"vm-seed:{node.name}",
        params={
            "node": node.name,
            "image": node.machine.image or "",
            "user_data": node.machine.user_data or "",
            **addresses,
        },
        text=f"make what {node.name} writes to instead of its image, and what cloud-init reads in it",
        undo_text="remove both",
    )


def _start(topology: Topology, node: Node) -> Step:
    machine = node.machine
    assert machine is not None
    params: dict[str, Param] = {
        "node": node.name,
        "netns": switch_namespace(topology),
        "forwarder": machine.forwarder or "",
        "vcpus": machine.vcpus,
        "memory_mb": machine.memory_mb,
        "hugepages": machine.hugepages,
        "queues": machine.queues,
        "accel": machine.accel,
        "guest_memory_mb": _guest_memory_mb(node, machine),
    }
    for side in PCI_SLOTS:
        port = topology.port(f"{node.name}.{side}")
        params[f"{side}_mac"] = port.mac
        params[f"{side}_next_hop"] = next_hop(topology, port).mac
        params[f"{side}_interface"] = port.interface or ""
        params[f"{side}_socket"] = port.socket or ""
    several = f"{machine.vcpus} virtual CPUs" if machine.vcpus > 1 else "one virtual CPU"
    return Step(
        kind="vm",
        name=f"vm:{node.name}",
        params=params,
        text=f"start virtual machine {node.name} with {several}, where {machine.title()} forwards",
        undo_text=f"end virtual machine {node.name}",
    )


def _guest_memory_mb(node: Node, machine: Machine) -> int:
    """Of the weir-dp in it; 0: there is none."""
    if machine.forwarder != "weir-dp":
        return 0
    needed_mb = guest_memory_mb(node)
    if needed_mb + GUEST_SYSTEM_MB > machine.memory_mb:
        raise PlanError(
            f"{node.name} has {machine.memory_mb} MiB of memory, and its weir-dp needs {needed_mb} MiB beside"
            f" the guest's own {GUEST_SYSTEM_MB} MiB; expected vm.memory_mb:"
            f" {needed_mb + GUEST_SYSTEM_MB} or more"
        )
    return needed_mb


def _ready(topology: Topology, lab: Lab, node: Node) -> Step:
    machine = node.machine
    assert machine is not None
    config = json.dumps(guest_config(topology, node)) if machine.forwarder == "weir-dp" else ""
    pinned = list(node.cores) if lab.host.pinning else []
    where = f", and pin it to core {', '.join(map(str, pinned))}" if pinned else ""
    return Step(
        kind="vm-ready",
        name=f"vm-ready:{node.name}",
        params={
            "node": node.name,
            "forwarder": machine.forwarder or "",
            "ready": machine.ready,
            "configure": config,
            "cores": pinned,
            "time_limit_ms": round(machine.boot_time_limit_s * 1000),
        },
        text=f"wait until {node.name} forwards{where}",
        undo_text="",
    )
