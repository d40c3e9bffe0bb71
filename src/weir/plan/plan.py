# SPDX-License-Identifier: Apache-2.0
"""The plan of one deployment: its steps, and what weir-dp is configured with. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Self

from weir.base.node import KERNEL_PORT_KINDS, PROGRAM_PEERS, UNOPENED_PORT_KINDS, Port
from weir.base.step import Step
from weir.base.topology import Topology
from weir.lab.function import N4Options
from weir.lab.lab import Lab
from weir.plan.architecture import area_of, function_areas, lab_keys, stage_names
from weir.plan.data_plane import weir_dp_step
from weir.plan.memory import mbufs, memory_mb, queue_size
from weir.plan.spanning import tested_here
from weir.plan.streams import streams
from weir.plan.topology import NETNS_DIRECTORY, PlanError, next_hop
from weir.plan.tuning import deployment_steps, hugepages
from weir.protocol.configuration import (
    AreaConfig,
    Configure,
    NativePortKind,
    PortConfig,
    TesterArea,
    TesterKind,
)
from weir.protocol.errors import refusing
from weir.protocol.traffic import TrafficConfigure
from weir.technology import TECHNOLOGIES
from weir.technology.kernel_links import kernel_wires

KERNEL_STALL_US = 1000  # a system call of a kernel port's driver takes longer than a stall of a polled port
_REALTIME = {True: "realtime", False: "", "auto": "realtime where it can be"}
_UNIX_PATH_MAX = 107
N4_PORT = 8805
"""TS 29.244, clause 4.2.2; PFCP_PORT in weir-dp."""


@dataclass(frozen=True)
class Listening:
    """One function, and what is waited for."""

    function: str
    """As the lab names it."""
    area: str
    """Of its stage, or its dispatcher."""
    stage: str
    address: str
    options: N4Options

    @property
    def netns(self) -> str | None:
        """Path of the namespace in which it listens; None: weir-dp's."""
        return None if self.options.netns is None else f"{NETNS_DIRECTORY}/{self.options.netns}"

    @property
    def where(self) -> str:
        """In words."""
        inside = "" if self.options.netns is None else f" in network namespace {self.options.netns}"
        return f"{self.address} port {N4_PORT}{inside}"


@dataclass(frozen=True)
class Plan:
    """What one deployment is made of, made once, before anything stands."""

    topology: Topology
    steps: tuple[Step, ...]
    """What to do, in order, until weir-dp runs and can be configured. Undone in reverse order."""
    configure: Configure
    """Of weir-dp, but for devices that are not there before the steps are done."""
    streams: Mapping[str, TrafficConfigure]
    """What the tester sends, by frame of the lab; nothing where it makes connections, hosts are in its place,
    or it is on another host."""
    keys: Mapping[str, str]
    """Where the lab says what stands at a place of `configure`."""
    listening: tuple[Listening, ...] = ()
    """Functions that others control by N4."""

    @classmethod
    def of(cls, topology: Topology, lab: Lab) -> Self:
        """PlanError for a machine with too little memory; DataPlaneError for what weir-dp could not take."""
        made = configure(topology, lab)
        return cls(
            topology=topology,
            steps=tuple(steps(topology, lab)),
            configure=made,
            keys=lab_keys(topology, lab, made.areas),
            listening=_listening(topology, lab, made.areas),
            streams={}
            if topology.end_hosts or not tested_here(topology) or lab.traffic.connections is not None
            else {str(frame): streams(topology, lab, str(frame)) for frame in lab.traffic.frames},
        )

    def opened(self, run_dir: str, devices: Mapping[str, str] | None = None) -> Configure:
        """The configuration with the devices of all ports.

        `run_dir`: where the sockets are. `devices`: PCI address by port name, for virtual functions, known
        once they are bound. PlanError if one is not known or a socket's path is too long for the kernel.
        """
        found = {port.name: self._devargs(port, run_dir, devices or {}) for port in self.topology.ports}
        ports = tuple(
            port.model_copy(update={"devargs": found[port.name]}) if found[port.name] is not None else port
            for port in self.configure.ports
        )
        return self.configure.model_copy(update={"ports": ports})

    def _devargs(self, port: Port, run_dir: str, devices: Mapping[str, str]) -> str | None:
        """None where the kind of port says it all."""
        if port.kind == "physical":
            address = port.interface or devices.get(port.name)
            if address is None:
                raise PlanError(
                    f"no device is known for port {port.name}; expected the address of its function"
                )
            return address
        if port.kind not in ("virtio-user", "vhost", "memif"):
            return None
        path = str(PurePosixPath(run_dir) / (port.socket or ""))
        if len(path.encode()) > _UNIX_PATH_MAX or "," in path:
            raise PlanError(
                f"the socket path {path} cannot be used; expected at most {_UNIX_PATH_MAX} bytes and no"
                " comma: set WEIR_RUN_DIR to a shorter directory"
            )
        if port.kind == "vhost":
            # A program that waits for its peer before it does anything else has made the socket, or will.
            client = ",client=1" if next_hop(self.topology, port).kind in PROGRAM_PEERS else ""
            return f"net_vhost{port.link},iface={path},queues=1{client}"
        size = next(one.rx_queue_size for one in self.configure.ports if one.name == port.name)
        index = next(index for index, other in enumerate(self.topology.ports) if other.name == port.name)
        if port.kind == "memif":
            return (
                f"net_memif{index},role=client,id=0,socket={path},socket-abstract=no,"
                f"rsize={size.bit_length() - 1},mac={port.mac}"
            )
        # speed: generators that send at the link's must not take the default of 10 Gbit/s for the limit.
        devargs = (
            f"net_virtio_user{index},path={path},queues=1,queue_size={size},"
            f"packed_vq=1,speed=100000,mac={port.mac}"
        )
        return devargs + ",server=1" if self.topology.links[port.link].network else devargs


@refusing()
def configure(topology: Topology, lab: Lab) -> Configure:
    """Ports, rings and areas of weir-dp; without the device arguments of sockets and network cards."""
    functions = [function_areas(topology, node) for node in topology.processed()]
    sides = ("left", "right") if lab.tester.direction == "bidirectional" else ("left",)
    areas: list[AreaConfig] = [area for function in functions for area in function.areas]
    by_tester = tested_here(topology) and not topology.end_hosts
    if by_tester and lab.traffic.connections is not None:
        areas = [
            _tester_area(topology, "clients", "left"),
            *areas,
            _tester_area(topology, "servers", "right"),
        ]
    elif by_tester:
        areas = [
            *(_tester_area(topology, "generator", side) for side in sides),
            *areas,
            # At both ends always: what arrives where nothing should is counted too.
            *(_tester_area(topology, "receiver", side) for side in ("left", "right")),
        ]
    return Configure(
        ports=tuple(_port(topology, lab, port) for port in _opening_order(topology)),
        rings=tuple(ring for function in functions for ring in function.rings),
        areas=tuple(areas),
        stall_threshold_us=_stall_thresholds_us(topology, lab, areas),
        ledger=True,
        mbufs=mbufs(topology, lab),
        frame_bytes_max=topology.frame_bytes_max,
    )


def _listening(topology: Topology, lab: Lab, areas: Sequence[AreaConfig]) -> tuple[Listening, ...]:
    """In the order of the chain; none of a chain that is not of the lab."""
    return tuple(
        Listening(
            node.function,
            area_of(node.name, stage, areas),
            stage,
            address,
            lab.functions[node.function].n4_options(),
        )
        for node in topology.functions()
        if node.in_weir_dp and node in topology.here()
        for stage, address in _by_n4(lab, node.function)
    )


def _by_n4(lab: Lab, name: str) -> Iterator[tuple[str, str]]:
    if name in lab.functions:
        names = [*stage_names(one.nf for one in lab.functions[name].nfs())]
        for index, address in lab.functions[name].by_n4().items():
            yield names[index], address


def _opening_order(topology: Topology) -> list[Port]:
    """Left to right, but vhost ports first: their sockets must exist when virtio-user ports connect."""
    ours = (port for port in topology.ports if port.kind not in UNOPENED_PORT_KINDS)
    return sorted(ours, key=lambda port: port.kind != "vhost")


def _port(topology: Topology, lab: Lab, port: Port) -> PortConfig:
    size = queue_size(topology, lab, port)
    kind: NativePortKind | None = None
    interface = netns = peer = None
    match port.kind:
        case "packet_socket" | "af_packet" | "af_xdp" | "tap":
            kind, interface, netns = port.kind, port.interface, f"{NETNS_DIRECTORY}/{port.netns}"
        case "memory":
            kind, peer = port.kind, next_hop(topology, port).name
    made = PortConfig(
        name=port.name,
        kind=kind,
        interface=interface,
        netns=netns,
        mac=port.mac,
        peer=peer,
        wire=topology.wire,
        rx_queue_size=size,
        tx_queue_size=size,
    )
    if port.node != topology.nodes[0].name:
        return made
    return made.model_copy(update={"timestamps": lab.tester.timestamps})


def _tester_area(topology: Topology, kind: TesterKind, side: str) -> TesterArea:
    cores = topology.nodes[0].cores
    core = cores[0] if side == "left" else cores[-1]
    return TesterArea(name=f"{kind}.{side}", core=core, kind=kind, port=f"tester.{side}")


def _stall_thresholds_us(topology: Topology, lab: Lab, areas: Sequence[AreaConfig]) -> dict[str, int]:
    """By core. Loops with kernel ports make system calls, which take their time without any stall."""
    polled_us = max(1, round(lab.measure.stall_threshold_us))
    kernel_us = max(KERNEL_STALL_US, polled_us)
    kernel = any(port.kind in KERNEL_PORT_KINDS for port in topology.ports)
    return {str(core): kernel_us if kernel else polled_us for core in sorted({area.core for area in areas})}


def steps(topology: Topology, lab: Lab) -> list[Step]:
    """What to do, in order, until weir-dp runs and can be configured."""
    switched = any(link.network for link in topology.links)
    if switched:
        middle = TECHNOLOGIES[topology.technology].steps(topology, lab.options(topology.technology))
    elif any(port.netns is not None for port in topology.ports):
        middle = kernel_wires(topology)
    else:
        middle = []
    return [
        run_directory(topology),
        *hugepages(topology, lab),
        *deployment_steps(topology, lab),
        *middle,
        *_functions_outside(topology, lab),
        _weir_dp(topology, lab),
    ]


def _functions_outside(topology: Topology, lab: Lab) -> Iterator[Step]:
    """Of those that do not run in weir-dp. What plans them is loaded where there are some."""
    if topology.machines():
        from weir.plan.vm_steps import vm_steps

        yield from vm_steps(topology, lab)
    if topology.namespaced():
        from weir.plan.kernel_steps import kernel_steps

        yield from kernel_steps(topology, lab)


def run_directory(topology: Topology) -> Step:
    """The first of all steps."""
    return Step(
        kind="run-directory",
        name="run-directory",
        params={"deployment": topology.deployment, "lab": topology.lab},
        text=f"make the run directory of {topology.deployment}",
        undo_text="remove the run directory",
    )


def _weir_dp(topology: Topology, lab: Lab) -> Step:
    cores = sorted({core for node in topology.here() if node.in_weir_dp for core in node.cores})
    polls = "polling on" if cores else "which has nothing to do, on"
    # Between hosts Linux may do it all: weir-dp still says what there is.
    cores = cores or [next(node.cores[0] for node in topology.here() if node.role == "function")]
    listed = ", ".join(map(str, cores))
    return weir_dp_step(
        cores,
        memory_mb(topology, lab),
        [port.interface for port in topology.ports if port.kind == "physical" and port.interface],
        lab.host,
        f"start weir-dp, {polls} core{'s' if len(cores) > 1 else ''} {listed}" + _how(lab),
    )


def _how(lab: Lab) -> str:
    said = ["" if lab.host.pinning else "unpinned", _REALTIME[lab.host.rt]]
    said.append("in 4 KiB pages" if lab.host.hugepages == "none" else "")
    listed = ", ".join(word for word in said if word)
    return f" ({listed})" if listed else ""
