# SPDX-License-Identifier: Apache-2.0
"""Where a cloud that is measured lost packets: every device on the way, from the kernel's, the switches' and
the filters' own counters. What goes into a switch or a host and does not come out again, and no counter of
theirs tells of, is `not_forwarded` or `not_returned` there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute

from weir.base.cloud import OUTSIDE, CloudNode, CloudTopology, router_name
from weir.base.step import Step
from weir.fabric import namespace, netlink
from weir.fabric.cloud.drops import Drop, drops
from weir.fabric.cloud.sent_again import SentAgain
from weir.fabric.cloud.watch import SwitchPorts
from weir.fabric.counters import Counter, Statistics, counted_once, interfaces_of
from weir.fabric.function.counters import generated, ip_drops, queue_drops
from weir.fabric.openvswitch import call
from weir.fabric.packet_sockets import PacketSockets
from weir.plan.cloud import names
from weir.plan.cloud.routers import ROUTERS
from weir.plan.cloud.security import SECURITIES

_NET = Path("/proc/thread-self/net")
_FIELDS = ("tx_dropped", "rx_dropped", "tx_errors", "rx_errors")
_CONNTRACK = ("drop", "early_drop", "insert_failed")
_LOOKUPS = re.compile(r"lookups: hit:\d+ missed:\d+ lost:(\d+)")
_TABLES = ("snmp", "netstat", "snmp6")


@dataclass(frozen=True)
class End:
    """One end of a veth pair, or a tap."""

    netns: str
    interface: str


class CloudCounters:
    """Of one cloud. Only differences of two readings mean something."""

    def __init__(self, topology: CloudTopology, steps: Sequence[Step], run_dir: Path) -> None:
        self._topology = topology
        self._security = SECURITIES[topology.security]
        self._run_dir = run_dir
        pairs = [_ends(step) for step in steps if step.kind == "veth"]
        self._peer = {one: other for pair in pairs for one, other in (pair, pair[::-1])}
        self._taps = {_end(step) for step in steps if step.kind == "tap"}
        names_of = [OUTSIDE, *(node.name for node in topology.nodes)]
        names_of += [one.name for _, one in topology.all_instances()]
        routers = [router_name(network) for network in topology.tenant_networks]
        self._forwarding = [one.name for network in topology.all_networks() for one in network.functions]
        if ROUTERS[topology.router].in_data_plane is None:
            self._forwarding += routers  # others tell by weir-dp's ledger
        self._commanded = {one.name for _, one in topology.all_instances() if one.commands is not None}
        self._again = {node.name: SentAgain() for node in topology.nodes}
        self._called = {topology.namespace(name): name for name in [*names_of, *routers]}
        self._instances_ports = dict(_instances_ports(topology))

    def read(self) -> list[Counter]:
        """All of them. FabricError if a filter or a switch does not tell."""
        statistics = {netns: interfaces_of(netns) for netns in dict.fromkeys(one.netns for one in self._peer)}
        filtered = drops(self._topology, self._run_dir)
        found = list(self._wires(statistics))
        found += [Counter(f"filter of {one.of}", one.reason, "drop", one.packets) for one in filtered]
        for name in self._forwarding:
            found += self._host(name, statistics)
        for node in self._topology.nodes:
            found = self._with_switch(node, statistics, filtered, found)
        return found

    def _with_switch(
        self,
        node: CloudNode,
        statistics: Mapping[str, Mapping[str, Statistics]],
        filtered: Sequence[Drop],
        found: Sequence[Counter],
    ) -> list[Counter]:
        *told, rest = self._switch(node, statistics, filtered)
        netns = self._topology.namespace(node.name)
        own = {self.place(End(netns, name)) for name in self._switched(node, statistics)}
        refused = [one for one in found if one.reason == "interface_tx_dropped" and one.place in own]
        others = [one for one in found if one not in refused]
        return [*others, *told, *self._again[node.name].without(refused, rest)]

    def _wires(self, statistics: Mapping[str, Mapping[str, Statistics]]) -> Iterator[Counter]:
        for end, other in self._peer.items():
            near = statistics[end.netns].get(end.interface)
            if near is not None:
                once = counted_once(near, statistics[other.netns].get(other.interface))
                for field in _FIELDS:
                    yield Counter(self.place(end), f"interface_{field}", "drop", once[field])
        for end in self._taps:
            tap = statistics[end.netns].get(end.interface)
            if tap is not None:
                for field in _FIELDS:
                    yield Counter(self.place(end), f"interface_{field}", "drop", tap[field])

    def ports(self, node: CloudNode) -> SwitchPorts:
        """Where that node's switch receives, and what has come there."""
        netns = self._topology.namespace(node.name)
        found = self._switched(node, {netns: interfaces_of(netns)})
        return SwitchPorts(
            tuple(self.place(End(netns, name)) for name in found),
            sum(one["rx_packets"] for one in found.values()),
        )

    def place(self, end: End) -> str:
        """ "compute1:tap of customer-1.1"."""
        owner = self._called.get(end.netns, end.netns)
        return f"{owner}:{self._instances_ports.get(end, end.interface)}"

    def _host(self, name: str, statistics: Mapping[str, Mapping[str, Statistics]]) -> Iterator[Counter]:
        """A router, or a function: what went in and did not come out."""
        netns = self._topology.namespace(name)
        with namespace.inside(netns):
            tables = [(_NET / one).read_text(encoding="ascii") for one in _TABLES]
            tracking = _text(_NET / "stat/nf_conntrack")
            queues = self._queues(name)
        told = [*ip_drops(name, *tables), *conntrack_drops(name, tracking), *queues]
        yield from told
        rest = generated(tables[0], tables[2]) - sum(one.value for one in told)
        for interface, one in statistics[netns].items():
            if End(netns, interface) in self._peer:
                rest += one["rx_packets"] - one["tx_packets"] - one["tx_dropped"]
        yield Counter(name, "not_returned", "drop", rest)

    def _queues(self, name: str) -> list[Counter]:
        """Of the namespace that the calling thread is in: where commands may have made disciplines."""
        if name not in self._commanded:
            return []
        with netlink.opened(IPRoute) as route:
            return [
                Counter(f"{name}:{interface}", reason, "drop", packets)
                for interface, reason, packets in queue_drops(route)
            ]

    def _switch(
        self, node: CloudNode, statistics: Mapping[str, Mapping[str, Statistics]], filtered: Sequence[Drop]
    ) -> Iterator[Counter]:
        """The node's: Open vSwitch with all that its interfaces give it. The last one is the rest."""
        netns = self._topology.namespace(node.name)
        with netlink.opened(lambda: closing(PacketSockets()), namespace.inside(netns)) as sockets:
            unread = sockets.drops()
        rest = 0
        for name, one in self._switched(node, statistics).items():
            full = unread.get(one["index"], 0)
            yield Counter(self.place(End(netns, name)), "socket_full", "drop", full)
            # ovs_vport_send() of Linux: what is longer than the MTU is an error of the interface.
            rest += one["rx_packets"] - full - one["tx_packets"] - one["tx_dropped"] - one["tx_errors"]
        lost = self._upcalls_lost(node)
        yield Counter(f"{node.name}:openvswitch", "upcall_lost", "drop", lost)
        rest -= lost
        if self._security.drops_in_switch:
            here = {node.name, *(one.name for _, one in self._topology.instances_at(node.name))}
            rest -= sum(one.packets for one in filtered if one.of in here)
        yield Counter(f"{node.name}:openvswitch", "not_forwarded", "drop", rest)

    def _switched(
        self, node: CloudNode, statistics: Mapping[str, Mapping[str, Statistics]]
    ) -> dict[str, Statistics]:
        """Interfaces of the node that its switch sends and receives at."""
        netns = self._topology.namespace(node.name)
        return {
            name: one
            for name, one in statistics[netns].items()
            if End(netns, name) in self._peer.keys() | self._taps
            and not name.startswith(self._security.beside_switch)
        }

    def _upcalls_lost(self, node: CloudNode) -> int:
        directory = self._run_dir / names.ovs_directory(node.name)
        shown = call(["ovs-appctl", "-t", str(directory / "vswitchd.ctl"), "dpctl/show"], directory)
        return sum(map(int, _LOOKUPS.findall(shown)))


def _instances_ports(topology: CloudTopology) -> Iterator[tuple[End, str]]:
    """Interfaces of instances at their nodes, as users know them: "tap of customer-1.1"."""
    for network, instance in topology.all_instances():
        port = names.InstancePort.of(network, instance)
        for kind, interface in port.by_kind().items():
            yield End(topology.namespace(instance.node), interface), f"{kind} of {instance.name}"


def conntrack_drops(name: str, table: str) -> list[Counter]:
    """Of the text of /proc/net/stat/nf_conntrack: a line for each CPU, in hexadecimal."""
    head, *rows = [line.split() for line in table.splitlines()] or [[]]
    return [
        Counter(name, f"conntrack_{reason}", "drop", sum(int(row[head.index(reason)], 16) for row in rows))
        for reason in _CONNTRACK
        if reason in head
    ]


def _text(path: Path) -> str:
    """Empty where the kernel has no connection tracking there."""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _ends(step: Step) -> tuple[End, End]:
    return _end(step), _end(step, "peer_")


def _end(step: Step, which: str = "") -> End:
    return End(str(step.params[f"{which}netns"]), str(step.params[f"{which}interface"]))
