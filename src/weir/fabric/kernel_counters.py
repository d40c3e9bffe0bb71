# SPDX-License-Identifier: Apache-2.0
"""What the kernel counted at the interfaces of a deployment."""

from __future__ import annotations

from weir.fabric.counters import Counter
from weir.fabric.step_kind import Site
from weir.plan.topology import switch_namespace
from weir.spec.topology import Topology


def interface_packets(topology: Topology, site: Site) -> dict[str, int]:
    """Packets that the kernel brought to weir-dp's end of each port's veth pair, by port name."""
    brought = {}
    for port in topology.ports:
        if port.netns is not None:
            brought[port.name] = _statistics(site, port.netns)[port.interface or port.side]["rx_packets"]
    return brought


def kernel_counters(topology: Topology, site: Site) -> list[Counter]:
    """Drops at both ends of each veth pair. The sending end counts those of the receiving CPU's backlog."""
    counters = []
    networks = any(link.network for link in topology.links)
    for port in topology.ports:
        if port.netns is None:
            continue
        ends = [(port.name, port.netns, port.interface or port.side)]
        if networks:
            ends.append((f"switch:{port.name}", switch_namespace(topology), port.name))
        for place, netns, interface in ends:
            statistics = _statistics(site, netns)[interface]
            for field in ("tx_dropped", "rx_dropped", "tx_errors", "rx_errors"):
                counters.append(Counter(place, f"interface_{field}", "drop", statistics[field]))
            counters.append(Counter(f"{place} rx", None, "packets", statistics["rx_packets"]))
    return counters


def _statistics(site: Site, netns: str) -> dict[str, dict[str, int]]:
    found = {}
    for link in site.route(netns).get_links():
        statistics = link.get("stats64") or link.get("stats") or {}
        fields = ("rx_packets", "tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors")
        found[str(link.get("ifname"))] = {field: int(statistics[field]) for field in fields}
    return found
