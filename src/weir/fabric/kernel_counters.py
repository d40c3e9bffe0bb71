# SPDX-License-Identifier: Apache-2.0
"""What the kernel counted at the interfaces of a deployment and at the sockets that read them."""

from __future__ import annotations

from collections.abc import Mapping

from weir.fabric.counters import Counter
from weir.fabric.step_kind import Site
from weir.plan.topology import switch_namespace
from weir.spec.topology import Port, Topology

_DROPS = ("tx_dropped", "rx_dropped", "tx_errors", "rx_errors")
Statistics = Mapping[str, int]


def kernel_counters(topology: Topology, site: Site, delivered: Mapping[str, int]) -> list[Counter]:
    """Drops at both ends of each veth pair. The sending end counts those of the receiving CPU's backlog.

    `delivered`: packets that weir-dp took from each of its ports. An interface that is gone counts nothing;
    that it is gone, weir-dp says.
    """
    counters = []
    kernel = [port for port in topology.ports if port.netns is not None]
    namespaces = {port.netns for port in kernel if port.netns is not None}
    nodes = {netns: _statistics(site, netns) for netns in namespaces}
    for port in kernel:
        statistics = nodes[port.netns or ""].get(port.interface or port.side)
        if statistics is None:
            continue
        counters += _interface(port.name, statistics)
        counters += _driver_ring(port, statistics, delivered.get(port.name, 0))
    if kernel and any(link.network for link in topology.links):
        switch = switch_namespace(topology)
        ends, sockets = _statistics(site, switch), site.packet_sockets(switch).drops()
        for port in kernel:
            place, statistics = f"switch:{port.name}", ends.get(port.name)
            if statistics is None:
                continue
            counters += _interface(place, statistics)
            counters.append(Counter(place, "socket_full", "drop", sockets.get(statistics["index"], 0)))
        for port in topology.ports:
            if port.kind == "vm-tap" and port.name in ends:
                counters += _tap(f"switch:{port.name}", ends[port.name])
    return counters


def _tap(place: str, statistics: Statistics) -> list[Counter]:
    """A virtual machine's: the kernel sends to it what the machine receives."""
    return [*_interface(place, statistics), Counter(f"{place} tx", None, "packets", statistics["tx_packets"])]


def _interface(place: str, statistics: Statistics) -> list[Counter]:
    drops = [Counter(place, f"interface_{field}", "drop", statistics[field]) for field in _DROPS]
    return [*drops, Counter(f"{place} rx", None, "packets", statistics["rx_packets"])]


def _driver_ring(port: Port, statistics: Statistics, delivered: int) -> list[Counter]:
    """DPDK's drivers do not tell what the kernel found no room for in their ring: the rest is that."""
    if port.kind == "packet_socket":
        return []  # weir-dp counts it, as rx_missed
    return [Counter(port.name, "rx_ring_full", "drop", statistics["rx_packets"] - delivered)]


def _statistics(site: Site, netns: str) -> dict[str, dict[str, int]]:
    """By interface: what it counted, and its index."""
    found = {}
    for link in site.route(netns).get_links():
        statistics = link.get("stats64") or link.get("stats") or {}
        counted = {field: int(statistics[field]) for field in ("rx_packets", "tx_packets", *_DROPS)}
        found[str(link.get("ifname"))] = {"index": int(link["index"]), **counted}
    return found
