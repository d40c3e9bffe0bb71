# SPDX-License-Identifier: Apache-2.0
"""What the benches lb-* measure: the balancer on clients' packets of connections that it knows."""

from __future__ import annotations

from bench.beside_l3fwd import against_l3fwd, alone_against_l3fwd, begun_a_second
from bench.pairs import Line

VIP = ("203.0.113.10", 80)
SERVICES = ", ".join(f"{VIP[0]}:{VIP[1]}/udp 10.0.0.{i}:8080" for i in range(1, 5))


def at(name: str, connections: int, target: float) -> Line:
    """Ratio of the balancer's packets a second to l3fwd's."""
    return against_l3fwd(name, "lb", _options(connections), flows=connections, to=VIP, target=target)


def alone_at(name: str, connections: int, target: float) -> Line:
    """Ratio of l3fwd's cycles a packet to the balancer's, without ports."""
    return alone_against_l3fwd(name, "lb", _options(connections), flows=connections, to=VIP, target=target)


def begun(name: str, connections: int, target_per_s: float) -> Line:
    """Ratio of new connections a second to that many."""
    return begun_a_second(
        name, "lb", _options(connections), flows=connections, to=VIP, target_per_s=target_per_s
    )


def _options(connections: int) -> dict[str, str]:
    return {"services": SERVICES, "connections_max": str(connections)}
