# SPDX-License-Identifier: Apache-2.0
"""How many packet buffers, how much memory, and how large tables of flows weir-dp needs for a topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weir.base.node import KERNEL_PORT_KINDS, Node, Port, ProgramFunction
from weir.base.topology import Topology
from weir.lab.counterparts import PROGRAMS
from weir.lab.function import NfOptions
from weir.lab.kernel import EAL
from weir.lab.lab import Lab
from weir.lab.nf import Scalar, network_functions
from weir.plan.architecture import RING_PACKETS, ring_count
from weir.technology import TECHNOLOGIES

KERNEL_RING_FRAMES = 4096
# Of long chains, and of jumbo frames, which take five times the room: a ring's memory is the kernel's and
# cannot be swapped out.
KERNEL_RING_FRAMES_LARGE = 1024
LONG_CHAIN_PORTS = 20
_BURST_ROOM = 2048  # packets in flight between areas, and the pool's per-core cache
_MBUF_BYTES = 2560  # 2 KiB of data, headroom, the struct, the pool's own header
_JUMBO_MBUF_BYTES = 10752  # likewise, with 10 KiB of data
_STREAM_JUMBO_MB = 128  # what the pool of a stream with jumbo frames takes beyond that of another
_BASE_MB = 128
_FLOW_BYTES = 128
_CONNECTION_BYTES = 40  # of the servers' index; the connections themselves are in other memory
_STATE_MB = 48  # tables of one function with its default options
_TABLE_ROOM = 2  # tables are of powers of two
_FLOW_ENTRY_BYTES = 256
_FLOW_STAGE_BYTES = 64
_GRAIN_MB = 64
GUEST_QUEUE_SIZE = 1024  # the most that QEMU has
_GUEST_BASE_MB = 64
_GUEST_GRAIN_MB = 16
QUEUE_SIZE = 2048
"""Of ports whose technology leaves no choice."""


def queue_size(topology: Topology, lab: Lab, port: Port) -> int:
    """Descriptors of one ring of `port`."""
    options = lab.options(topology.technology)
    if port.kind in KERNEL_PORT_KINDS:
        long = len(topology.ports) > LONG_CHAIN_PORTS
        return KERNEL_RING_FRAMES_LARGE if long or topology.jumbo else KERNEL_RING_FRAMES
    chosen = getattr(options, "queue_size", None)
    return chosen if isinstance(chosen, int) else QUEUE_SIZE


def mbufs(topology: Topology, lab: Lab) -> int:
    """Packet buffers: what all rings can hold at once, and room for the bursts between them.

    vhost ports and AF_PACKET sockets copy, so their rings hold none of ours.
    """
    held = {"virtio-user": 2, "physical": 2, "af_xdp": 2, "memory": 1}
    rings = sum(held.get(port.kind, 0) * queue_size(topology, lab, port) for port in topology.ports)
    between = sum(ring_count(node) * RING_PACKETS for node in topology.processed())
    return rings + between + _BURST_ROOM * (3 + len(topology.processed())) + _waiting(topology)


def _waiting(topology: Topology) -> int:
    """Packets that wait in functions which an SMF may tell to keep them."""
    kept = 0
    for node in topology.processed():
        for one in node.chain:
            if one.nf == "upf" and one.options.get("n4_address"):
                described = NfOptions(nf=one.nf, options=dict(one.options))
                kept += _instances(node) * entries(described, Table("buffer_packets_max", 0))
    return kept


def memory_mb(topology: Topology, lab: Lab) -> int:
    """Memory of weir-dp in MiB."""
    flows = 2 * lab.traffic.flows.count * _FLOW_BYTES
    if lab.traffic.connections is not None:
        flows = lab.traffic.connections.sources * _CONNECTION_BYTES
    mbuf_bytes = _JUMBO_MBUF_BYTES if topology.jumbo else _MBUF_BYTES
    needed_mb = _BASE_MB + (mbufs(topology, lab) * mbuf_bytes + flows) // (1 << 20)
    needed_mb += 2 * _STREAM_JUMBO_MB if topology.jumbo else 0
    needed_mb += sum(_state_mb(node) for node in topology.processed())
    return -(-needed_mb // _GRAIN_MB) * _GRAIN_MB


def guest_mbufs(node: Node) -> int:
    """Packet buffers of a weir-dp in a virtual machine: both rings of its two ports hold some."""
    return 4 * GUEST_QUEUE_SIZE + ring_count(node) * RING_PACKETS + 2 * _BURST_ROOM


def guest_memory_mb(node: Node) -> int:
    """Memory of a weir-dp in a virtual machine in MiB."""
    needed_mb = _GUEST_BASE_MB + guest_mbufs(node) * _MBUF_BYTES // (1 << 20) + _state_mb(node)
    return -(-needed_mb // _GUEST_GRAIN_MB) * _GUEST_GRAIN_MB


def machines_memory_mb(topology: Topology) -> int:
    """Hugepage memory of virtual machines in MiB; one that is migrated has it twice."""
    machines = (node.machine for node in topology.machines())
    return sum(one.memory_mb * (1 + one.failover) for one in machines if one is not None and one.hugepages)


def programs_memory_mb(topology: Topology) -> int:
    """Hugepage memory of programs of which Weir knows that they have any, in MiB."""
    programs = (node.program for node in topology.functions())
    return sum(program_memory_mb(one) for one in programs if one is not None)


def program_memory_mb(program: ProgramFunction) -> int:
    """In hugepages, in MiB: of an environment of DPDK that Weir makes, or what a counterpart has anyway."""
    if program.counterpart is None:
        return program.memory_mb if f"{{{EAL}}}" in program.command else 0
    described = PROGRAMS[program.counterpart]
    return program.memory_mb if described.dpdk else described.hugepages_mb


def switch_memory_mb(topology: Topology, lab: Lab) -> int:
    """Hugepage memory of a switch that is a DPDK program, in MiB."""
    switched = any(link.network for link in topology.links)
    described = TECHNOLOGIES[topology.technology]
    return described.memory_mb(lab.options(topology.technology), topology.jumbo) if switched else 0


def hugepages_mb(topology: Topology, lab: Lab) -> int:
    """All that a topology has in hugepages, in MiB."""
    own_mb = memory_mb(topology, lab) + switch_memory_mb(topology, lab)
    return own_mb + machines_memory_mb(topology) + programs_memory_mb(topology)


def _instances(node: Node) -> int:
    """Of each function's state."""
    return {"dispatch": node.workers, "separated": node.state_cores}.get(node.architecture, 1)


def _state_mb(node: Node) -> int:
    """Of the functions' states, each as often as there are instances, and of fast paths."""
    instances = _instances(node)
    stateful = sum(network_functions()[one.nf].shares_state for one in node.chain)
    fastpaths = len(node.chain) if node.architecture == "pipeline" else instances
    cached = fastpaths * node.fastpath_flows * (_FLOW_ENTRY_BYTES + len(node.chain) * _FLOW_STAGE_BYTES)
    grown = sum(grown_bytes(one.nf, one.options) for one in node.chain)
    return instances * (stateful * _STATE_MB + grown * _TABLE_ROOM // (1 << 20)) + cached // (1 << 20)


@dataclass(frozen=True)
class Table:
    """One table of a function."""

    option: str
    """Which sizes it, in entries."""
    entry_bytes: int
    """With its part of the index; from the function's page under native/nf/."""
    room: str | None = None
    """Another option, which counts where it is greater."""


TABLES: Mapping[str, tuple[Table, ...]] = {
    "nat": (Table("sessions", 140),),
    "firewall": (Table("sessions", 100),),
    "gnb": (Table("sessions", 240),),
    "lb": (Table("connections_max", 100),),
    "dpi": (Table("flows_max", 150), Table("charges_max", 90)),
    "upf": (Table("sessions", 240, room="sessions_max"), Table("rules_max", 512)),
}


INSPECTED_PACKETS_MAX = 400_000
"""So many are inspected within seconds, before a trial of known flows begins."""


def packets_looked_into(flows: int) -> int:
    """Of each flow, at most: `packets_max` of dpi. One at least."""
    return max(1, min(10, INSPECTED_PACKETS_MAX // flows))


def learning_packets(lab: Lab) -> int:
    """That have to pass before its functions know all flows."""
    nfs = [one for function in lab.functions.values() for one in function.nfs()]
    looked = max((int(one.options.get("packets_max", 10)) for one in nfs if one.nf == "dpi"), default=1)
    streams = len(lab.tester.directions)
    return lab.traffic.flows.count * streams * looked


def entries(one: NfOptions, table: Table) -> int:
    """Of the table, as the options say, or by default."""
    named = int(one.options.get(table.option, _default(one.nf, table)))
    return max(named, int(one.options.get(table.room, 0))) if table.room else named


def grown_bytes(nf: str, options: Mapping[str, Scalar]) -> int:
    """What its tables take beyond those of its default options."""
    one = NfOptions(nf=nf, options=dict(options))
    return sum(
        max(0, entries(one, table) - _default(nf, table)) * table.entry_bytes for table in TABLES.get(nf, ())
    )


def with_room(one: NfOptions, flows: int) -> NfOptions:
    """The function with tables that hold so many flows: as they are, where they do."""
    if one.nf == "dpi" and packets_looked_into(flows) < 10:
        one = one.model_copy(update={"options": {"packets_max": packets_looked_into(flows), **one.options}})
    small = [table for table in TABLES.get(one.nf, ()) if entries(one, table) < flows]
    needed = {table.option: flows for table in small}
    needed |= {table.room: flows for table in small if table.room is not None and table.room in one.options}
    return one.model_copy(update={"options": {**one.options, **needed}}) if needed else one


def _default(nf: str, table: Table) -> int:
    option = network_functions()[nf].option(table.option)
    assert option is not None
    return int(option.default or 0)
