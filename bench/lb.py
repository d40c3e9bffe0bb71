# SPDX-License-Identifier: Apache-2.0
"""What lb-64k and lb-1m measure: the balancer on clients' packets of connections that it knows."""

from __future__ import annotations

from bench.beside_l3fwd import against_l3fwd
from bench.pairs import Line

VIP = ("203.0.113.10", 80)
SERVICES = ", ".join(f"{VIP[0]}:{VIP[1]}/udp 10.0.0.{i}:8080" for i in range(1, 5))


def at(name: str, connections: int, target: float) -> Line:
    """Ratio of the balancer's packets a second to l3fwd's."""
    options = {"services": SERVICES, "connections_max": str(connections)}
    return against_l3fwd(name, "lb", options, flows=connections, to=VIP, target=target)
