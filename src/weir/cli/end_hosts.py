# SPDX-License-Identifier: Apache-2.0
"""How commands show the hosts at the ends of a chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.base.topology import EndHost, Topology


def host_lines(topology: Topology) -> Iterator[str]:
    """Of each host: its addresses and those of the other one; how it knows its neighbour; what is dropped."""
    for host in topology.end_hosts:
        other = "right" if host.side == "left" else "left"
        yield f"host {host.side}: {', '.join(host.addresses)}; reaches {other} at {', '.join(host.reached)}"
        yield f"  {_neighbours(host)}"
        if host.no_address_because:
            missing = "IPv4" if ":" in host.addresses[0] else "IPv6"
            yield f"  it has no {missing} address, because {host.no_address_because}"


def _neighbours(host: EndHost) -> str:
    given = {one.address: one.mac for one in host.neighbours}
    by = ["Neighbor Discovery" if ":" in peer else "ARP" for peer in host.peers if peer not in given]
    said = [f"resolved by {' and '.join(by)}"] if by else []
    if given:
        macs = ", ".join(dict.fromkeys(given.values()))
        said.append(f"given for {', '.join(given)} as {macs}, because {host.neighbours_because}")
    return f"its neighbour is {'; '.join(said)}"
