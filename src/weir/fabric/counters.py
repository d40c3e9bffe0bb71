# SPDX-License-Identifier: Apache-2.0
"""What the switch and the kernel counted: packets, and drops by place and reason, since the deployment."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weir.base.node import Port
from weir.base.topology import Link, Topology, switch_namespace, taps
from weir.fabric import namespace
from weir.fabric.openvswitch import kernel_forwards, ports_shown
from weir.fabric.site import Site


@dataclass(frozen=True)
class Counter:
    """One counter. Only differences of two readings mean something."""

    place: str  # "net0:f1.left"
    reason: str | None  # symbol; None for packets
    kind: Literal["drop", "packets", "originated"]
    value: int


_ROOT = 0xFFFFFFFF  # TC_H_ROOT
_DROPS = ("tx_dropped", "rx_dropped", "tx_errors", "rx_errors")
_TABLE = Path("/proc/thread-self/net/dev")
_RECEIVED = ("bytes", "packets", "errors", "dropped", "fifo", "frame", "compressed", "multicast")
_SENT = ("bytes", "packets", "errors", "dropped", "fifo", "collisions", "carrier", "compressed")
_COLUMNS = (*(f"rx_{name}" for name in _RECEIVED), *(f"tx_{name}" for name in _SENT))
"""Of that file. `rx_dropped` has what an interface missed, too."""
Statistics = Mapping[str, int]


def kernel_counters(topology: Topology, site: Site, delivered: Mapping[str, int]) -> list[Counter]:
    """Drops at both ends of each veth pair. The sending end counts those of the receiving CPU's backlog.

    `delivered`: packets that weir-dp took from each of its ports. An interface that is gone counts nothing;
    that it is gone, weir-dp says.
    """
    counters = []
    kernel = [port for port in topology.ports if port.netns is not None]
    namespaces = {port.netns for port in kernel if port.netns is not None}
    nodes = {netns: interfaces_of(netns) for netns in namespaces}
    switched = kernel and any(link.network for link in topology.links)
    switch = switch_namespace(topology)
    ends = interfaces_of(switch) if switched else {}
    spans = {(end.netns, end.interface) for span in topology.spans for end in (span.left, span.right)}
    sockets = site.packet_sockets(switch).drops() if switched else {}
    for port in kernel:
        near = nodes[port.netns or ""].get(port.interface or port.side)
        far = ends.get(port.name)
        # What a function lost is counted with all of it, and what a wire to another host lost with the wire.
        if near is not None and port.kind != "veth" and (port.netns, port.interface) not in spans:
            counters += _interface(port.name, counted_once(near, far))
            counters += _driver_ring(port, near, delivered.get(port.name, 0))
        if far is not None:
            place = f"switch:{port.name}"
            counters += _interface(place, counted_once(far, near))
            counters.append(Counter(place, "socket_full", "drop", sockets.get(far["index"], 0)))
    if switched:
        tapped = any(port.kind == "vm-tap" for port in topology.ports)
        counters += _machines(topology, ends, _handed_over(site, switch) if tapped else {})
    return counters


def counted_once(end: Statistics, peer: Statistics | None) -> Statistics:
    """Of one end of a veth pair, without what its peer counts too.

    The kernel counts a packet that finds the receiving CPU's backlog full at both ends, as dropped by the one
    that sends and by the one that receives: enqueue_to_backlog() of net/core/dev.c, veth_xmit().
    """
    if peer is None:
        return end
    return {**end, "rx_dropped": max(0, end["rx_dropped"] - peer["tx_dropped"])}


def _machines(topology: Topology, ends: Mapping[str, Statistics], handed: Mapping[int, int]) -> list[Counter]:
    """At tap interfaces of virtual machines; and what was for everybody, as no packet of the tester's is."""
    found = []
    for port in topology.ports:
        for name in taps(topology, port) if port.kind == "vm-tap" else ():
            if name in ends:
                found += _tap(f"switch:{name}", ends[name], handed)
    for link in topology.links:
        if link.name in ends:
            found.append(Counter(broadcasts(link), None, "packets", ends[link.name]["rx_packets"]))
    return found


def broadcasts(link: Link) -> str:
    """Where packets to everybody are counted, which a bridge gives to itself too."""
    return f"switch:{link.name} broadcast"


def _tap(place: str, statistics: Statistics, handed: Mapping[int, int]) -> list[Counter]:
    """A virtual machine's: the kernel sends to it what the machine receives.

    `not_read`: what waits for a QEMU that does not come, or went with the queue when that QEMU ended.
    """
    found = _interface(place, statistics)
    found.append(Counter(f"{place} tx", None, "packets", statistics["tx_packets"]))
    given = handed.get(statistics["index"])
    if given is not None:
        waiting = given - statistics["tx_packets"] - statistics["tx_dropped"]
        found.append(Counter(place, "not_read", "drop", max(0, waiting)))
    return found


def _handed_over(site: Site, netns: str) -> dict[int, int]:
    """By index of an interface: packets that its queueing discipline gave to the driver, or still has."""
    found: dict[int, int] = {}
    for one in site.route(netns).get_qdiscs():
        if one.get("parent") != _ROOT:
            continue
        for name, block in (one.get("stats2") or {}).get("attrs", ()):
            if name == "TCA_STATS_BASIC":
                found[int(one["index"])] = found.get(int(one["index"]), 0) + int(block["packets"])
            elif name == "TCA_STATS_QUEUE":
                found[int(one["index"])] = found.get(int(one["index"]), 0) + int(block["qlen"])
    return found


def _interface(place: str, statistics: Statistics) -> list[Counter]:
    return [
        *interface_drops(place, statistics),
        Counter(f"{place} rx", None, "packets", statistics["rx_packets"]),
    ]


def interface_drops(place: str, statistics: Statistics) -> list[Counter]:
    """What an interface says that it has dropped."""
    return [Counter(place, f"interface_{field}", "drop", statistics[field]) for field in _DROPS]


def _driver_ring(port: Port, statistics: Statistics, delivered: int) -> list[Counter]:
    """DPDK's drivers do not tell what the kernel found no room for in their ring: the rest is that."""
    if port.kind == "packet_socket":
        return []  # weir-dp counts it, as rx_missed
    return [Counter(port.name, "rx_ring_full", "drop", statistics["rx_packets"] - delivered)]


def interfaces_of(netns: str) -> dict[str, dict[str, int]]:
    """By interface: what it counted, and its index.

    From the kernel's table of one line an interface: netlink's answer has everything else of it too, which
    takes longer to take apart than a short trial's other work (before and after each).
    """
    with namespace.inside(netns):
        table = _TABLE.read_text(encoding="ascii")
        indices = {name: index for index, name in socket.if_nameindex()}
    return interfaces(table, indices)


def interfaces(table: str, indices: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """What stands in a /proc/net/dev. One that came or went between both looks is left out."""
    found = {}
    for line in table.splitlines()[2:]:
        name, _, numbers = line.partition(":")
        index = indices.get(name.strip())
        if index is not None:
            counted = dict(zip(_COLUMNS, map(int, numbers.split()), strict=True))
            found[name.strip()] = {"index": index, **counted}
    return found


_PORT = re.compile(r"^\s*port \d+: (\S+)", re.M)
_LOOKUPS = re.compile(r"hit:(\d+) missed:(\d+) lost:(\d+)")


def openvswitch_counters(topology: Topology, site: Site) -> list[Counter]:
    """Drops of each port of the chain and of the datapath, and how many packets the datapath looked up."""
    in_kernel = kernel_forwards(site, topology)
    shown = ports_shown(site, in_kernel=in_kernel)
    counters = parse(shown, {port.name: port.netns is None for port in topology.ports})
    if not in_kernel and all(port.netns is not None for port in topology.ports):
        ends = interfaces_of(switch_namespace(topology))
        found = not_sent(shown, [ends[port.name] for port in topology.ports if port.name in ends])
        counters += [found] if found is not None else []
    return counters


def not_sent(shown: str, ends: Sequence[Statistics]) -> Counter | None:
    """What the userspace datapath looked up and no interface was given, all of its ports being interfaces.

    It counts nowhere what the kernel refuses to take, because the buffer of the socket by which it sends
    (SO_SNDBUF of socket(7)) is full of packets that the receiving core has not come to.
    """
    lookups = _LOOKUPS.search(shown)
    if lookups is None:
        return None
    hit, missed, lost = map(int, lookups.groups())
    given = sum(end["tx_packets"] + end["tx_dropped"] for end in ends)
    return Counter("switch", "not_sent", "drop", hit + missed - lost - given)


def parse(shown: str, ports: Mapping[str, bool]) -> list[Counter]:
    """The counters in `dpctl/show -s`'s text. `ports`: the chain's, and whether it is a socket.

    Drops of an interface kernel_counters() has told. Open vSwitch repeats the kernel's counter, and where the
    kernel has the datapath, twice: netdev_linux_get_stats() of its lib/netdev-linux.c adds it to that of
    ovs_vport_get_stats() of Linux, which is the same one.
    """
    counters = []
    lookups = _LOOKUPS.search(shown)
    if lookups is not None:
        hit, missed, lost = map(int, lookups.groups())
        counters.append(Counter("switch", "upcall_lost", "drop", lost))
        counters.append(Counter("switch lookups", None, "packets", hit + missed))
    sections = _PORT.split(shown)[1:]
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        if name not in ports:
            continue
        for line, reason in (("RX", "rx_dropped"), ("TX", "tx_queue_full")):
            found = re.search(rf"{line} packets:(\S+) errors:(\S+) dropped:(\S+)", text)
            if found is None:
                continue
            packets, _errors, dropped = (int(word) if word.isdigit() else 0 for word in found.groups())
            counters += [Counter(f"switch:{name}", reason, "drop", dropped)] if ports[name] else []
            counters.append(Counter(f"switch:{name} {line.lower()}_packets", None, "packets", packets))
    return counters
