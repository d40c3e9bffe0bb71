# SPDX-License-Identifier: Apache-2.0
"""What weir-dp is told: the arguments of its `configure` command for a topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from weir.base.error import WeirError
from weir.base.topology import KERNEL_PORT_KINDS, VM_PORT_KINDS, Port, Topology
from weir.lab.lab import Lab
from weir.plan.architecture import RING_PACKETS, function_areas
from weir.plan.memory import mbufs, queue_size

KERNEL_STALL_US = 1000  # a system call of a kernel port's driver takes longer than a stall of a polled port
_UNIX_PATH_MAX = 107
_NETNS_DIRECTORY = "/run/netns"


class PlanError(WeirError):
    """The topology cannot be told to weir-dp as things are on this machine. Says what to do."""


def dataplane_config(
    topology: Topology, lab: Lab, run_dir: str, devices: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The arguments of `configure`.

    `run_dir`: where the sockets are. `devices`: PCI address by port name, for virtual functions, known once
    they are bound. PlanError if a device is not known or a socket's path is too long for the kernel.
    """
    functions = [function_areas(topology, node) for node in topology.processed()]
    areas = [
        *_generators(topology, lab),
        *(area for function in functions for area in function.areas),
        *_receivers(topology),
    ]
    return {
        "ports": [_port(topology, lab, port, run_dir, devices or {}) for port in _opening_order(topology)],
        "rings": [{"name": ring, "size": RING_PACKETS} for function in functions for ring in function.rings],
        "areas": areas,
        "stall_threshold_us": _stall_thresholds_us(topology, lab, areas),
        "ledger": True,
        "mbufs": mbufs(topology, lab),
    }


def _opening_order(topology: Topology) -> list[Port]:
    """Left to right, but vhost ports first: their sockets must exist when virtio-user ports connect."""
    ours = (port for port in topology.ports if port.kind not in VM_PORT_KINDS)
    return sorted(ours, key=lambda port: port.kind != "vhost")


def _port(
    topology: Topology, lab: Lab, port: Port, run_dir: str, devices: Mapping[str, str]
) -> dict[str, Any]:
    size = queue_size(topology, lab, port)
    config: dict[str, Any] = {
        "name": port.name,
        "mac": port.mac,
        "wire": topology.wire,
        "rx_queue_size": size,
        "tx_queue_size": size,
    }
    if port.node == topology.nodes[0].name:
        config["timestamps"] = lab.tester.timestamps
    if port.kind in KERNEL_PORT_KINDS:
        return config | {
            "kind": port.kind,
            "interface": port.interface,
            "netns": f"{_NETNS_DIRECTORY}/{port.netns}",
        }
    if port.kind == "memory":
        link = topology.links[port.link]
        return config | {"kind": "memory", "peer": link.right if port.name == link.left else link.left}
    if port.kind == "physical":
        address = port.interface or devices.get(port.name)
        if address is None:
            raise PlanError(f"no device is known for port {port.name}; expected the address of its function")
        return config | {"devargs": address}
    return config | {"devargs": _virtio_devargs(topology, port, size, run_dir)}


def _virtio_devargs(topology: Topology, port: Port, size: int, run_dir: str) -> str:
    path = str(PurePosixPath(run_dir) / (port.socket or ""))
    if len(path.encode()) > _UNIX_PATH_MAX or "," in path:
        raise PlanError(
            f"the socket path {path} cannot be used; expected at most {_UNIX_PATH_MAX} bytes and no comma: "
            "set WEIR_RUN_DIR to a shorter directory"
        )
    if port.kind == "vhost":
        return f"net_vhost{port.link},iface={path},queues=1"
    index = next(index for index, other in enumerate(topology.ports) if other.name == port.name)
    # speed: generators that pace by the link's speed must not take the default of 10 Gbit/s for the limit.
    devargs = (
        f"net_virtio_user{index},path={path},queues=1,queue_size={size},"
        f"packed_vq=1,speed=100000,mac={port.mac}"
    )
    return devargs + ",server=1" if topology.links[port.link].network else devargs


def _generators(topology: Topology, lab: Lab) -> Iterator[dict[str, Any]]:
    sides = ("left", "right") if lab.tester.direction == "bidirectional" else ("left",)
    for side in sides:
        yield _tester_area(topology, "generator", side)


def _receivers(topology: Topology) -> Iterator[dict[str, Any]]:
    """At both ends always: what arrives where nothing should is counted too."""
    for side in ("left", "right"):
        yield _tester_area(topology, "receiver", side)


def _tester_area(topology: Topology, kind: str, side: str) -> dict[str, Any]:
    cores = topology.nodes[0].cores
    core = cores[0] if side == "left" else cores[-1]
    return {"name": f"{kind}.{side}", "core": core, "kind": kind, "port": f"tester.{side}"}


def _stall_thresholds_us(topology: Topology, lab: Lab, areas: list[dict[str, Any]]) -> dict[str, int]:
    """By core. Loops with kernel ports make system calls, which take their time without any stall."""
    polled_us = max(1, round(lab.measure.stall_threshold_us))
    kernel_us = max(KERNEL_STALL_US, polled_us)
    kernel = any(port.kind in KERNEL_PORT_KINDS for port in topology.ports)
    cores = sorted({area["core"] for area in areas})
    return {str(core): kernel_us if kernel else polled_us for core in cores}
