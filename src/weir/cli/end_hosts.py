# SPDX-License-Identifier: Apache-2.0
"""How commands show the hosts at the ends of a chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.base.topology import EndHost, Topology


def host_lines(topology: Topology) -> Iterator[str]:
    """Two lines a host: its addresses and what it calls the other one by; how it knows its neighbour."""
    for host in topology.end_hosts:
        other = "right" if host.side == "left" else "left"
        yield f"host {host.side}: {', '.join(host.addresses)}; reaches {other} at {', '.join(host.reached)}"
        yield f"  {_neighbours(host)}"


def _neighbours(host: EndHost) -> str:
    given = {one.address for one in host.neighbours}
    versions = {peer: "IPv6" if ":" in peer else "IPv4" for peer in host.peers}
    said = []
    if given != set(host.peers):
        by = [
            "Neighbor Discovery" if version == "IPv6" else "ARP"
            for peer, version in versions.items()
            if peer not in given
        ]
        said.append(f"its neighbour is resolved by {' and '.join(by)}")
    said += [f"its neighbour {one.address} is given as {one.mac}" for one in host.neighbours]
    because = f": {host.neighbours_because}" if host.neighbours else ""
    return "; ".join(said) + because
