# SPDX-License-Identifier: Apache-2.0
"""Areas of what forwards between the chain's ports, as the cost model sees them: a switch, or the kernel.

- `ovs-dpdk`: a polling thread of Open vSwitch takes each packet from one port, looks it up, and gives it to
  the other one of its network, all on its own core.
- `linux-bridge`, and `ovs` with the kernel's datapath: the kernel forwards in the system call of the area
  that sends, down to the receiving port's ring; so on each core that sends there is a `softirq` area.
- `ovs` with the userspace datapath: there the softirq ends at the switch's socket. Its main thread, on the
  switch's core, reads that and sends; what the kernel does for it then is its own time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.base.cores import cpus_text
from weir.base.topology import Topology
from weir.lab.lab import Lab
from weir.plan.topology import PlanError
from weir.protocol.configuration import AreaConfig, TesterArea
from weir.technology import TECHNOLOGIES
from weir.technology.descriptor import Forwarding, NotModelledError

MODELLED = tuple(name for name, one in TECHNOLOGIES.items() if one.forwarding is not None)
"""Whose areas the cost model knows."""
EXACT_MATCHES = 8192
"""Flows that a polling thread's exact-match cache holds: EM_FLOW_HASH_ENTRIES of Open vSwitch's
lib/dpif-netdev-private-dfc.h."""


@dataclass(frozen=True)
class SwitchArea:
    """What forwards on one core."""

    name: str
    core: int
    kind: Literal["pmd", "thread", "softirq"]
    hop: str
    """What crossing it is called in the cost model."""
    paths: tuple[tuple[str, str], ...]
    """From which queue to which."""


@dataclass(frozen=True)
class Switched:
    """What is between the ports."""

    areas: tuple[SwitchArea, ...]
    entries: Mapping[str, str]
    """Queues that they take from, and the port through which packets got there."""
    queues: Mapping[tuple[int, str], str]
    """Into which queue goes what an area of that core sends through that port."""


def require_modelled(topology: Topology) -> None:
    """PlanError for a technology, or functions, whose areas the cost model does not know."""
    if topology.technology not in MODELLED:
        raise PlanError(
            f"the cost model does not know the switch of {topology.technology}; expected one of "
            f"{', '.join(MODELLED)}"
        )
    if topology.machines():
        raise PlanError(
            f"the cost model does not know what happens in a virtual machine, which "
            f"{topology.machines()[0].name} of the chain is; expected functions without `vm`"
        )
    if topology.namespaced():
        raise PlanError(
            f"the cost model does not know what {topology.namespaced()[0].nf} does as "
            f"{topology.namespaced()[0].name} of the chain; "
            "expected functions of kind process"
        )
    offloaded = next((node for node in topology.functions() if node.offload is not None), None)
    if offloaded is not None:
        raise PlanError(
            f"the cost model does not know what share of its packets {offloaded.name} of the chain would "
            "have offloaded; expected functions without `offload`"
        )


def switched(topology: Topology, lab: Lab, areas: Sequence[AreaConfig]) -> Switched:
    """Between the ports of weir-dp's `areas`. PlanError for a switch whose packets cannot be followed."""
    forwarding = _forwarding(topology, lab)
    senders = sorted(set(_senders(areas, {port.name for port in topology.ports})))
    peers = _peers(topology)
    if forwarding.by == "wire":
        return Switched((), {}, {(core, port): peers[port] for core, port in senders})
    if forwarding.by == "sender":
        return _kernel(senders, peers, hop=forwarding.hop)
    core = _own_core(topology, areas)
    if forwarding.by == "polling":
        return _polled(topology, senders, peers, core=core)
    return _threaded(senders, peers, core=core)


def _forwarding(topology: Topology, lab: Lab) -> Forwarding:
    said = TECHNOLOGIES[topology.technology].forwarding
    assert said is not None, "require_modelled comes first"
    try:
        return said(lab.options(topology.technology))
    except NotModelledError as error:
        raise PlanError(str(error)) from error


def _polled(
    topology: Topology, senders: Sequence[tuple[int, str]], peers: Mapping[str, str], *, core: int
) -> Switched:
    names = [port.name for port in topology.ports]
    area = _area("pmd", core, "pmd", [(_entry(port), peers[port]) for port in names])
    queues = {(sender, port): _entry(port) for sender, port in senders}
    return Switched((area,), {_entry(port): port for port in names}, queues)


def _kernel(senders: Sequence[tuple[int, str]], peers: Mapping[str, str], *, hop: str) -> Switched:
    entries = {_entry(port, core): port for core, port in senders}
    areas = tuple(
        _area(
            "softirq",
            core,
            hop,
            [(_entry(port, core), peers[port]) for sender, port in senders if sender == core],
        )
        for core in sorted({core for core, _ in senders})
    )
    return Switched(areas, entries, {(core, port): _entry(port, core) for core, port in senders})


def _threaded(senders: Sequence[tuple[int, str]], peers: Mapping[str, str], *, core: int) -> Switched:
    to_switch = _kernel(senders, {port: _entry(port) for _, port in senders}, hop="veth")
    ports = sorted({port for _, port in senders})
    thread = _area("thread", core, "switch thread", [(_entry(port), peers[port]) for port in ports])
    entries = {**to_switch.entries, **{_entry(port): port for port in ports}}
    return Switched((*to_switch.areas, thread), entries, to_switch.queues)


def _area(
    kind: Literal["pmd", "thread", "softirq"], core: int, hop: str, paths: Sequence[tuple[str, str]]
) -> SwitchArea:
    name = "ovs-vswitchd.main" if kind == "thread" else f"{kind}.{core}"
    return SwitchArea(name, core, kind, hop, tuple(paths))


def _entry(port: str, core: int | None = None) -> str:
    """Where what is sent through a port waits for the switch, or for the kernel on the sender's core."""
    return f"switch:{port}" if core is None else f"softirq.{core}:{port}"


def _peers(topology: Topology) -> dict[str, str]:
    found: dict[str, str] = {}
    for link in topology.links:
        found |= {link.left: link.right, link.right: link.left}
    return found


def _senders(areas: Sequence[AreaConfig], ports: set[str]) -> Iterator[tuple[int, str]]:
    """Core and port of everything that is sent."""
    for area in areas:
        if isinstance(area, TesterArea):
            if area.kind == "generator":
                yield area.core, area.port
            continue
        for path in area.paths:
            yield from ((area.core, out) for out in path.outputs if out in ports)


def _own_core(topology: Topology, areas: Sequence[AreaConfig]) -> int:
    """The switch's one core. PlanError if it has several, or shares it with a polling loop."""
    cores = topology.switch_cores
    if len(cores) != 1:
        raise PlanError(
            f"the cost model knows a switch on one core, and this one has cores {cpus_text(cores, ', ')}: "
            "which of them takes from which port is decided by Open vSwitch; expected one core for the switch"
        )
    (core,) = cores
    if any(area.core == core for area in areas):
        raise PlanError(
            f"core {core} would be shared by the switch and by weir-dp, which polls: what each of them gets "
            "is the scheduler's, in turns of milliseconds, and no cost tells it; expected a core of its own "
            "for the switch"
        )
    return core
